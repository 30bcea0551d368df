import { randomUUID } from 'node:crypto';
import type { Database } from '@floodgate/database';
import {
  changeRegistrations,
  expireHolds,
  replaceAttendee,
  reserveBatch,
  type Outcome,
  type Submission,
} from '@floodgate/registrations';
import { joinWaitingLists, serveWaitingLists, toJoin } from '@floodgate/waiting-list';
import type { Random } from '../faults/random.ts';
import type { Fixture } from '../harness/fixture.ts';
import { endHolds, reservationOf } from '../harness/reservation.ts';
import { changeSeats, CONTACT, LOCK_WITHIN_MS, openSeatsOf } from '../waiting-list/drawn-operations.ts';

const HOLD_SECONDS = 600;
const LIMIT = 1_000;
/** Older seats are mostly cancelled or changed. */
const RECENT = 30;

interface Seat {
  serial: number;
  passCode: number;
}

/** An event on sale, and what was sold. */
export interface Sales {
  fixture: Fixture;
  /** It never sells out. */
  roomyId: number;
  /** It is sold out most of the time, and has a waiting list. */
  scarceId: number;
  seats: Seat[];
  /** Those of the scarce ticket. */
  scarce: Seat[];
  held: Seat[];
  /** Baskets, and entries of the waiting list. */
  holdIds: string[];
  /** How often each operation had an effect. */
  uses: Record<string, number>;
}

export async function createSales(fixture: Fixture, price: number): Promise<Sales> {
  const roomyId = await fixture.addTicket({ price, capacity: 1_000_000 });
  const scarceId = await fixture.addTicket({ price, capacity: 4, offerHours: 24 });
  return { fixture, roomyId, scarceId, seats: [], scarce: [], held: [], holdIds: [], uses: {} };
}

/** Returns how much it has done. */
type Operation = (db: Database, sales: Sales, random: Random) => Promise<number>;

const seatsIn = (outcome: Outcome): Seat[] => {
  if (outcome.kind === 'bulk') return outcome.outcomes.flatMap(seatsIn);
  return outcome.kind === 'registered' ? [outcome] : [];
};

async function reserve(db: Database, submissions: readonly Submission[]): Promise<Seat[]> {
  const outcomes = await reserveBatch(db, randomUUID(), submissions, { lockWithinMs: LOCK_WITHIN_MS });
  return outcomes.flatMap(seatsIn);
}

const pickRecent = (random: Random, seats: readonly Seat[]) =>
  seats.length === 0 ? null : random.pick(seats.slice(-RECENT));

/** Without a share, a free seat is not offered. */
async function change(
  db: Database,
  { fixture }: Sales,
  to: 'confirmed' | 'cancelled',
  seat: Seat,
  holdSharePercent: number | null = 100,
) {
  const [outcome] = await changeRegistrations(db, fixture.shardId, to, [{ ...fixture, ...seat }], {
    lockWithinMs: LOCK_WITHIN_MS,
    holdSharePercent,
  });
  return outcome === to;
}

const OPERATIONS: Record<string, Operation> = {
  register: async (db, sales, random) => {
    const seats = Array.from({ length: random.between(1, 20) }, () =>
      reservationOf(sales.fixture, sales.roomyId),
    );
    return sales.seats.push(...(await reserve(db, seats)));
  },
  registerScarce: async (db, sales) => {
    const seats = await reserve(db, [reservationOf(sales.fixture, sales.scarceId)]);
    sales.scarce.push(...seats);
    return sales.seats.push(...seats) && seats.length;
  },
  hold: async (db, sales, random) => {
    const ticketId = random.pick([sales.roomyId, sales.scarceId]);
    const held = reservationOf(sales.fixture, ticketId, { holdSeconds: HOLD_SECONDS });
    const seats = await reserve(db, [held]);
    sales.held.push(...seats);
    return seats.length;
  },
  basket: async (db, sales, random) => {
    const holdId = randomUUID();
    const reservations = Array.from({ length: random.between(1, 3) }, () =>
      reservationOf(sales.fixture, sales.roomyId, {
        holdSeconds: HOLD_SECONDS,
        holdId,
        fullName: null,
        emailAddress: null,
      }),
    );
    const seats = await reserve(db, [{ reservations, isAll: true, idempotency: null }]);
    return seats.length > 0 ? sales.holdIds.push(holdId) : 0;
  },
  join: async (db, { fixture, scarceId, holdIds }) => {
    const call = toJoin(fixture, { organizedEventTicketID: scarceId, contact: CONTACT }, null);
    const [joined] = await joinWaitingLists(db, fixture.shardId, [call], LOCK_WITHIN_MS, 100);
    return joined!.outcome === 'joined' ? holdIds.push(joined!.id) : 0;
  },
  confirm: async (db, sales, random) => {
    const seat = pickRecent(random, sales.held);
    const isConfirmed = seat !== null && (await change(db, sales, 'confirmed', seat));
    return isConfirmed ? sales.seats.push(seat) : 0;
  },
  accept: async (db, { fixture: { shardId }, holdIds, seats, scarce }, random) => {
    const holdId = holdIds.length === 0 ? null : random.pick(holdIds.slice(-RECENT));
    const open = holdId === null ? [] : await openSeatsOf(db, shardId, holdId);
    if (holdId === null || open.length === 0) return 0;
    const serials = open.map(({ serial }) => serial);
    const outcome = await changeSeats(db, shardId, 'confirmed', holdId, serials);
    if (outcome !== 'confirmed') return 0;
    scarce.push(...open);
    return seats.push(...open);
  },
  cancel: async (db, sales, random) => {
    const seat = pickRecent(random, sales.seats);
    return seat !== null && (await change(db, sales, 'cancelled', seat)) ? 1 : 0;
  },
  replace: async (db, { fixture, seats }, random) => {
    const seat = pickRecent(random, seats);
    if (!seat) return 0;
    const attendee = { fullName: `Attendee ${random.seed()}`, emailAddress: 'new@example.com' };
    const named = { ...fixture, ...seat, attendee, attendeeDigest: null };
    const { replaced } = await replaceAttendee(db, fixture.shardId, named, LOCK_WITHIN_MS);
    return typeof replaced === 'object' && replaced ? seats.push(replaced) : 0;
  },
  serve: async (db, sales, random) => {
    const seat = pickRecent(random, sales.scarce);
    // As an operator cancels: the worker offers the seat.
    if (seat) await change(db, sales, 'cancelled', seat, null);
    return serveWaitingLists(db, sales.fixture.shardId, LIMIT, 100);
  },
  expire: async (db, { fixture }, random) => {
    if (random.chance(80)) return 0;
    await endHolds(db, fixture);
    return expireHolds(db, fixture.shardId, LIMIT, 100);
  },
};

export const OPERATION_NAMES = Object.keys(OPERATIONS);

/** Performs drawn operations one after another until it is told to stop. */
export async function sellUntil(
  isOver: () => boolean,
  db: Database,
  sales: Sales,
  random: Random,
): Promise<void> {
  while (!isOver()) {
    const name = random.pick(OPERATION_NAMES);
    const done = await OPERATIONS[name]!(db, sales, random).catch((cause: Error) => {
      throw new Error(`${name}: ${cause.message}`, { cause });
    });
    if (done > 0) sales.uses[name] = (sales.uses[name] ?? 0) + 1;
  }
}
