import { randomUUID } from 'node:crypto';
import type { Database } from '@floodgate/database';
import { expireHolds, reserveBatch } from '@floodgate/registrations';
import { serveWaitingLists } from '@floodgate/waiting-list';
import { sql } from 'kysely';
import type { Fixture } from '../harness/fixture.ts';
import { finalizePending, journalOf } from '../harness/journal.ts';
import { endHolds, reservationOf } from '../harness/reservation.ts';
import type { World } from './drawn-operations.ts';

const LIMIT = 1_000;

/** Expires all holds, serves and ends the lists, and publishes the changes. */
export async function settle(db: Database, { fixture, holdSharePercent }: World): Promise<void> {
  await endHolds(db, fixture);
  while ((await expireHolds(db, fixture.shardId, LIMIT, holdSharePercent)) > 0);
  while ((await serveWaitingLists(db, fixture.shardId, LIMIT, holdSharePercent)) > 0);
  await finalizePending(db, fixture.shardId);
}

interface Entry {
  serial: number;
  ticketId: number;
  partnerId: number;
  seats: number;
  state: string;
  wasOffered: boolean;
  /** Seats of its offer, those that are not cancelled, and those of these that are confirmed. */
  offered: number;
  kept: number;
  confirmed: number;
  /** Seats of the ticket that its partner holds. */
  held: number;
}

interface Ticket {
  id: number;
  capacity: number;
  taken: number;
  live: number;
  waiting: number;
  active: boolean;
  isOpen: boolean;
}

/** Returns what is wrong when nothing goes on any more. */
export async function findProblems(db: Database, world: World): Promise<string[]> {
  return [
    ...(await findProblemsOfLists(db, world)),
    ...(await lostConfirmations(db, world)),
    ...(await wrongAnswers(db, world)),
  ];
}

type Lists = {
  fixture: Pick<Fixture, 'shardId' | 'eventId'>;
  ticketIds: readonly number[];
  holdSharePercent?: number;
};

/** Returns what is wrong with tickets, their waiting lists, and what is published of them, when nothing goes on any more. */
export async function findProblemsOfLists(db: Database, lists: Lists): Promise<string[]> {
  const { holdSharePercent = 20 } = lists;
  const entries = await readEntries(db, lists);
  const tickets = await readTickets(db, lists);
  const kinds = new Map<number, string[]>();
  for (const { serial, kind } of await journalOf(db, lists.fixture))
    if (serial !== null) kinds.set(serial, [...(kinds.get(serial) ?? []), kind]);
  return [
    ...entries.flatMap((entry) =>
      problemsOfEntry(entry, kinds.get(entry.serial) ?? []).map((text) => `entry ${entry.serial} ${text}`),
    ),
    ...tickets.flatMap((ticket) =>
      problemsOfTicket(
        ticket,
        entries.filter(({ ticketId, state }) => ticketId === ticket.id && state === 'waiting'),
        Math.max(4, Math.floor((ticket.capacity * holdSharePercent) / 100)),
      ).map((text) => `ticket ${ticket.id} ${text}`),
    ),
    ...[...kinds]
      .filter(([, published]) => new Set(published).size < published.length)
      .map(([serial, published]) => `serial ${serial} was published as ${published.join()}`),
  ];
}

function problemsOfEntry(entry: Entry, published: readonly string[]): string[] {
  const { seats, state, wasOffered, offered, kept, confirmed } = entry;
  const expected = ['waiting.joined', ...(wasOffered ? ['waiting.offered'] : [])];
  if (['confirmed', 'expired'].includes(state)) expected.push(`waiting.${state}`);
  const problems: [boolean, string][] = [
    [published.join() !== expected.join(), `is ${state}, and was published as ${published.join()}`],
    [offered !== (wasOffered ? seats : 0), `needs ${seats} seats, and was offered ${offered}`],
    [
      state === 'offered' && (kept === 0 || confirmed > 0),
      `is offered, with ${kept} seats, ${confirmed} of them confirmed`,
    ],
    [['expired', 'left', 'waiting'].includes(state) && kept > 0, `is ${state}, and has ${kept} seats`],
    [kept !== confirmed && state === 'confirmed', `is confirmed, but only ${confirmed} of ${kept} seats`],
  ];
  return problems.filter(([isWrong]) => isWrong).map(([, problem]) => problem);
}

function problemsOfTicket(
  { capacity, taken, live, waiting, active, isOpen }: Ticket,
  waiters: readonly Entry[],
  share: number,
): string[] {
  const free = capacity - taken;
  const isServable = ({ seats, held }: Entry) => seats <= free && (held === 0 || held + seats <= share);
  const problems: [boolean, string][] = [
    [live > capacity, `has sold ${live} of ${capacity} seats`],
    [live !== taken, `counts ${taken} taken seats, and has ${live}`],
    [waiters.length !== waiting, `counts ${waiting} entries, and has ${waiters.length}`],
    [active && waiters.some(isServable), `has ${free} seats for an entry that waits`],
    [!isOpen && waiters.length > 0, 'is closed, and entries wait'],
  ];
  return problems.filter(([isWrong]) => isWrong).map(([, problem]) => problem);
}

/** A seat whose confirmation was answered is kept, unless somebody has asked to cancel it. */
async function lostConfirmations(db: Database, { fixture, confirmed, cancelled }: World): Promise<string[]> {
  const serials = [...confirmed.difference(cancelled)];
  const { rows } = await sql<{ serial: number }>`
    select serial from registrations
    where shard_id = ${fixture.shardId} and serial = any(${serials}::bigint[]) and cancelled_at is not null`.execute(
    db,
  );
  return rows.map(({ serial }) => `seat ${serial} was confirmed, and is cancelled`);
}

/** A newcomer gets a free seat if nobody waits and the ticket is on sale, and none otherwise. */
async function wrongAnswers(db: Database, world: World): Promise<string[]> {
  const { fixture } = world;
  const problems: string[] = [];
  for (const { id, capacity, taken, waiting, active } of await readTickets(db, world)) {
    const [outcome] = await reserveBatch(db, randomUUID(), [reservationOf(fixture, id)]);
    const isFree = waiting === 0 && taken < capacity;
    const expected = !active ? 'not-on-sale' : isFree ? 'registered' : 'sold-out';
    if (outcome?.kind !== expected)
      problems.push(`a newcomer of ticket ${id}: ${outcome?.kind}, not ${expected}`);
  }
  await finalizePending(db, fixture.shardId);
  return problems;
}

async function readEntries(db: Database, { fixture: { shardId, eventId } }: Lists): Promise<Entry[]> {
  const { rows } = await sql<Entry>`
    select e.serial, e.ticket_id as "ticketId", e.partner_id as "partnerId", e.seats::integer, e.state,
      e.offered_at is not null as "wasOffered", seats.offered, seats.kept, seats.confirmed, others.held
    from waiting_entries e
    cross join lateral (
      select count(*)::integer as offered, (count(*) filter (where r.cancelled_at is null))::integer as kept,
        (count(*) filter (where r.cancelled_at is null and coalesce(r.held_until, 'infinity') = 'infinity'))::integer
          as confirmed
      from registrations r where r.shard_id = e.shard_id and r.hold_id = e.id
    ) seats
    cross join lateral (
      select count(*)::integer as held from registrations h
      where h.shard_id = e.shard_id and h.ticket_id = e.ticket_id and h.partner_id = e.partner_id
        and h.cancelled_at is null and h.held_until < 'infinity'
    ) others
    where e.shard_id = ${shardId} and e.event_id = ${eventId}
    order by e.serial`.execute(db);
  return rows;
}

async function readTickets(db: Database, { fixture: { shardId }, ticketIds }: Lists): Promise<Ticket[]> {
  const { rows } = await sql<Ticket>`
    select id, capacity, taken, waiting, active, offer_hours is not null and waiting_closes_at is null as "isOpen", (
      select count(*)::integer from registrations r
      where r.shard_id = t.shard_id and r.ticket_id = t.id and r.cancelled_at is null
    ) as live
    from tickets t where shard_id = ${shardId} and id = any(${ticketIds}::integer[])`.execute(db);
  return rows;
}
