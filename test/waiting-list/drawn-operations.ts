import { randomUUID } from 'node:crypto';
import type { Database } from '@floodgate/database';
import { grantEvent } from '@floodgate/events';
import { createPartner } from '@floodgate/partners';
import {
  changeRegistrations,
  expireHolds,
  reserveBatch,
  type Outcome,
  type Submission,
} from '@floodgate/registrations';
import { joinWaitingLists, leaveWaitingList, serveWaitingLists, toJoin } from '@floodgate/waiting-list';
import { sql } from 'kysely';
import type { Random } from '../faults/random.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { finalizePending } from '../harness/journal.ts';
import { reservationOf } from '../harness/reservation.ts';

export const LOCK_WITHIN_MS = 20_000;
const HOLD_SECONDS = 600;
const MOST_SECONDS = 1_800;
const LIMIT = 1_000;
/** Of two partners. Of small tickets, a share is four seats. */
const SHARES = [100, 1];
const RECENT = 4;
export const CONTACT = { fullName: 'Jane Doe', emailAddress: 'jane@example.com' };

export interface Seat {
  serial: number;
  passCode: number;
  partnerId: number;
}

/** A basket, or an entry of a waiting list. */
interface Holder {
  id: string;
  partnerId: number;
  isEntry: boolean;
}

/** An event of two partners with tickets of few seats, and what is known of it. */
export interface World {
  fixture: Fixture;
  partnerIds: number[];
  ticketIds: number[];
  holdSharePercent: number;
  seats: Seat[];
  holders: Holder[];
  /** Serials of seats whose confirmation was answered, and of those that somebody has asked to cancel. */
  confirmed: Set<number>;
  cancelled: Set<number>;
  /** How often each operation had each outcome. */
  uses: Record<string, number>;
}

export async function createWorld(db: Database, random: Random): Promise<World> {
  const fixture = await createFixture(db);
  const other = await createPartner(db, `partner ${randomUUID()}`);
  await grantEvent(db, other.id, fixture.eventId);
  const ticketIds: number[] = [];
  for (let count = random.between(1, 2); count > 0; count -= 1)
    ticketIds.push(await fixture.addTicket({ capacity: random.between(1, 5), offerHours: 24 }));
  return {
    fixture,
    partnerIds: [fixture.partnerId, other.id],
    ticketIds,
    holdSharePercent: random.pick(SHARES),
    seats: [],
    holders: [],
    confirmed: new Set(),
    cancelled: new Set(),
    uses: {},
  };
}

type Operation = (db: Database, world: World, random: Random) => Promise<string | number | boolean>;

const pickSome = <Item>(random: Random, items: readonly Item[]) =>
  items.length === 0 ? [] : [random.pick(items)];
const ownerOf = ({ fixture }: World, partnerId: number) => ({ ...fixture, partnerId });

/** Reserves seats of one ticket, as a batch of single calls or as a basket. */
async function reserve(db: Database, world: World, random: Random, holdId: string | null): Promise<string> {
  const partnerId = random.pick(world.partnerIds);
  const reservations = Array.from({ length: random.between(1, 2) }, () =>
    reservationOf(ownerOf(world, partnerId), random.pick(world.ticketIds), {
      passCode: random.between(1_000_000_000, 2_000_000_000),
      ...(holdId && { holdSeconds: HOLD_SECONDS, holdId, fullName: null, emailAddress: null }),
    }),
  );
  const submissions: Submission[] = holdId
    ? [{ reservations, isAll: true, idempotency: null }]
    : reservations;
  const outcomes = await reserveBatch(db, randomUUID(), submissions, { lockWithinMs: LOCK_WITHIN_MS });
  const granted = outcomes.flatMap(seatsIn);
  world.seats.push(...granted.map((seat) => ({ ...seat, partnerId })));
  if (holdId && granted.length > 0) world.holders.push({ id: holdId, partnerId, isEntry: false });
  return granted.length > 0 ? 'granted' : 'sold out';
}

const seatsIn = (outcome: Outcome): Omit<Seat, 'partnerId'>[] => {
  if (outcome.kind === 'bulk') return outcome.outcomes.flatMap(seatsIn);
  return outcome.kind === 'registered' ? [outcome] : [];
};

/** One of those that were made last: the others are over. */
const pickRecent = <Item>(random: Random, items: readonly Item[]) => pickSome(random, items.slice(-RECENT));

/** Returns the open seats of a hold. */
export async function openSeatsOf(db: Database, shardId: number, holdId: string) {
  const { rows } = await sql<Omit<Seat, 'partnerId'>>`
    select serial, pass_code as "passCode" from registrations
    where shard_id = ${shardId} and hold_id = ${holdId}::uuid and cancelled_at is null and held_until < 'infinity'
    order by serial`.execute(db);
  return rows;
}

type HoldChange = 'confirmed' | 'released' | 'extended';

/** Changes seats of a hold. Returns the outcome. */
export async function changeSeats(
  db: Database,
  shardId: number,
  change: HoldChange,
  holdId: string,
  serials: readonly number[],
  holdSharePercent = 100,
) {
  const nulls = serials.map(() => null);
  const { rows } = await sql<{ outcomes: (string | null)[] }>`
    select change_holds(
      ${shardId}::integer, ${LOCK_WITHIN_MS}::integer, ${change}::text, ${[holdId]}::uuid[], ${[HOLD_SECONDS]}::integer[],
      ${MOST_SECONDS}::integer, ${serials.map(() => 1)}::integer[], ${serials}::bigint[], ${nulls}::uuid[],
      ${serials.map(() => CONTACT.fullName)}::text[], ${serials.map(() => CONTACT.emailAddress)}::text[], ${nulls}::text[],
      ${nulls}::text[], ${nulls}::text[], ${nulls}::text[], ${nulls}::text[], ${holdSharePercent}::integer
    ) as outcomes`.execute(db);
  return rows[0]!.outcomes[0] ?? 'no such hold';
}

/** Changes all open seats of a hold, or releases some. As in the API, they are read before, in another transaction. */
async function changeHold(db: Database, world: World, random: Random, change: HoldChange): Promise<string> {
  const [holder] = pickRecent(random, world.holders);
  if (!holder) return 'none';
  const { shardId } = world.fixture;
  const open = await openSeatsOf(db, shardId, holder.id);
  const seats = change === 'released' ? open.slice(0, random.between(1, 2)) : open;
  if (seats.length === 0) return 'none';
  const serials = seats.map(({ serial }) => serial);
  const outcome = await changeSeats(db, shardId, change, holder.id, serials, world.holdSharePercent);
  if (outcome === 'confirmed') {
    for (const serial of serials) world.confirmed.add(serial);
    world.seats.push(...seats.map((seat) => ({ ...seat, partnerId: holder.partnerId })));
  }
  return outcome + (holder.isEntry ? ' (offer)' : '');
}

/** Changes one ticket. */
async function changeTicket(
  db: Database,
  { fixture, ticketIds }: World,
  random: Random,
  change: string,
): Promise<string> {
  await sql`
    update tickets set ${sql.raw(change)}
    where shard_id = ${fixture.shardId} and id = ${random.pick(ticketIds)}`.execute(db);
  return 'done';
}

/** Ends the time of one hold, and lets the worker's task expire what is overdue. */
async function expire(
  db: Database,
  { fixture: { shardId }, holders, holdSharePercent }: World,
  random: Random,
): Promise<number> {
  for (const { id } of pickRecent(random, holders))
    await sql`
      update registrations set held_until = now()
      where shard_id = ${shardId} and held_until < 'infinity' and serial = any(array(
        select serial from registrations
        where shard_id = ${shardId} and hold_id = ${id}::uuid and cancelled_at is null order by serial for no key update
      ))`.execute(db);
  return await expireHolds(db, shardId, LIMIT, holdSharePercent);
}

const OPERATIONS: Record<string, [weight: number, run: Operation]> = {
  register: [5, (db, world, random) => reserve(db, world, random, null)],
  basket: [3, (db, world, random) => reserve(db, world, random, randomUUID())],
  join: [
    7,
    async (db, world, random) => {
      const owner = ownerOf(world, random.pick(world.partnerIds));
      const ticket = {
        organizedEventTicketID: random.pick(world.ticketIds),
        seats: random.pick([1, 1, 2, 3]),
      };
      const calls = Array.from({ length: random.pick([1, 1, 3]) }, () =>
        toJoin(owner, { ...ticket, contact: CONTACT }, null),
      );
      const joined = await joinWaitingLists(db, owner.shardId, calls, LOCK_WITHIN_MS, world.holdSharePercent);
      for (const { outcome, id } of joined)
        if (outcome === 'joined') world.holders.push({ id, partnerId: owner.partnerId, isEntry: true });
      return joined[0]!.outcome;
    },
  ],
  leave: [
    3,
    async (db, world, random) => {
      const [holder] = pickRecent(
        random,
        world.holders.filter(({ isEntry }) => isEntry),
      );
      return (
        holder !== undefined &&
        leaveWaitingList(
          db,
          ownerOf(world, holder.partnerId),
          holder.id,
          LOCK_WITHIN_MS,
          world.holdSharePercent,
        )
      );
    },
  ],
  confirm: [5, (db, world, random) => changeHold(db, world, random, 'confirmed')],
  release: [2, (db, world, random) => changeHold(db, world, random, 'released')],
  extend: [1, (db, world, random) => changeHold(db, world, random, 'extended')],
  cancel: [
    5,
    async (db, world, random) => {
      const { shardId, eventId } = world.fixture;
      const open = world.seats.filter(({ serial }) => !world.cancelled.has(serial));
      const seats = pickSome(random, open).map((seat) => ({ ...seat, eventId }));
      for (const { serial } of seats) world.cancelled.add(serial);
      if (seats.length === 0) return 'none';
      const [outcome] = await changeRegistrations(db, shardId, 'cancelled', seats, {
        lockWithinMs: LOCK_WITHIN_MS,
        holdSharePercent: world.holdSharePercent,
      });
      return outcome ?? 'unknown';
    },
  ],
  expire: [3, expire],
  raise: [
    2,
    (db, world, random) => changeTicket(db, world, random, `capacity = capacity + ${random.between(1, 2)}`),
  ],
  lower: [
    1,
    (db, world, random) => changeTicket(db, world, random, 'capacity = greatest(taken, capacity - 2, 1)'),
  ],
  close: [
    1,
    (db, world, random) =>
      changeTicket(
        db,
        world,
        random,
        random.pick(['offer_hours = null', "waiting_closes_at = now() - interval '1 minute'"]),
      ),
  ],
  open: [
    4,
    (db, world, random) =>
      changeTicket(db, world, random, 'offer_hours = 24, waiting_closes_at = null, active = true'),
  ],
  stop: [1, (db, world, random) => changeTicket(db, world, random, 'active = false')],
  serve: [
    3,
    (db, { fixture, holdSharePercent }) => serveWaitingLists(db, fixture.shardId, LIMIT, holdSharePercent),
  ],
  finalize: [2, async (db, { fixture }) => finalizePending(db, fixture.shardId).then(() => 'done')],
};
const DRAWN = Object.entries(OPERATIONS).flatMap(([name, [weight]]) =>
  Array.from({ length: weight }, () => name),
);

/** Performs operations one after another. */
export async function perform(db: Database, world: World, random: Random, count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) {
    const name = random.pick(DRAWN);
    const outcome = await OPERATIONS[name]![1](db, world, random).catch((cause: Error) => {
      throw new Error(`${name}: ${cause.message}`, { cause });
    });
    const use = `${name}: ${typeof outcome === 'number' ? (outcome > 0 ? 'some' : 'none') : outcome}`;
    world.uses[use] = (world.uses[use] ?? 0) + 1;
  }
}
