import { sql } from 'kysely';
import type { RegistrationRequest } from '@floodgate/contract';
import { plainArray, textArray, type Database } from '@floodgate/database';
import { DEFAULT_RETENTION_HOURS } from '../idempotency/retention.ts';
import { FAILED, type Outcome, type Refusal, type SeatOutcome } from './outcome.ts';

/** One validated request for a seat: the attendee's fields, and whose they are. */
export interface Reservation extends Required<Omit<RegistrationRequest, 'organizedEventTicketID'>> {
  /** Where its event lives. */
  shardId: number;
  partnerId: number;
  eventId: number;
  ticketId: number;
  /** Ten random digits, drawn by the caller. */
  passCode: number;
  /** UUID-sized digest of the attendee's e-mail address, and of the ticket; only under events that take an attendee once, and test events. */
  attendeeDigest: string | null;
  /** Whether an attendee that is registered already gets the same seat again, if it is this partner's. */
  returnsExisting: boolean;
  /** For how long its seat is held, unless it is confirmed; null: for good. */
  holdSeconds: number | null;
  /** Idempotency key with the UUID-sized fingerprint of its request. */
  idempotency: { key: string; fingerprint: string } | null;
}

/** What one call asks for together: at least one registration, all of one partner and event. */
export interface BulkReservation {
  readonly reservations: readonly Reservation[];
  /** All of them or none; otherwise each for itself. */
  readonly isAll: boolean;
  /** Of the whole call. */
  readonly idempotency: NonNullable<Reservation['idempotency']>;
}

/** What is reserved together with others, or apart from them, but never in parts. */
export type Order = Reservation | BulkReservation;

export const isBulk = (order: Order): order is BulkReservation => 'reservations' in order;

export const seatsOf = (order: Order) => (isBulk(order) ? order.reservations.length : 1);

/** Returns the registrations that are asked for, one after the other. */
export function reservationsOf(orders: readonly Order[]): readonly Reservation[] {
  if (!orders.some(isBulk)) return orders as readonly Reservation[];
  return orders.flatMap((order) => (isBulk(order) ? order.reservations : [order]));
}

/** What the function returns. */
interface Result {
  /** By position; null where all are registered. */
  outcomes: (Refusal | 'registered' | 'existing' | 'key-reused')[] | null;
  /** By position: of who got a seat just now. */
  serials: (number | null)[];
  /** Of who is answered as before, or has a seat already: position, serial and pass code. */
  replays: [position: number, serial: number | null, passCode: number | null][];
}

/** How long after its commit a batch is left to the queue before the relay enqueues it again. */
export const RELAY_GRACE_SECONDS = 5;

export interface ReserveOptions {
  /** How long it waits for a row that another transaction has locked; by default as long as the statement may take. */
  lockWithinMs?: number;
  /** How long idempotency keys count. */
  retentionHours?: number;
  /** How much of a ticket one partner may hold; by default all of it. */
  holdSharePercent?: number;
}

/**
 * Reserves seats for a whole batch of one shard: one function call, one commit. Seats go by position in the batch while
 * they last. Returns one outcome per order, in order. Nothing happens, or all of it.
 *
 * A batch that grants seats has a row under `batchId`. That is what makes a lost connection harmless: see voidBatch.
 * The caller guarantees that no two orders of a batch share an idempotency key.
 */
export async function reserveBatch(
  db: Database,
  batchId: string,
  orders: readonly Order[],
  { lockWithinMs = 0, retentionHours = DEFAULT_RETENTION_HOURS, holdSharePercent }: ReserveOptions = {},
): Promise<Outcome[]> {
  const reservations = reservationsOf(orders);
  const { wanted, seats, indexes } = countWanted(reservations);
  const bulks = findBulks(orders);
  const plain = (read: (reservation: Reservation) => number | string | null) =>
    plainArray(reservations.map(read));
  const text = (read: (reservation: Reservation) => string | null) => textArray(reservations.map(read));
  // In the select list and with plain values alone: so Citus sends the whole call to the shard's node.
  const { rows } = await sql<{ result: Result }>`
    select reserve_batch(
      ${reservations[0]!.shardId}::integer, ${batchId}::uuid, ${lockWithinMs}::integer,
      ${`${RELAY_GRACE_SECONDS} s`}::interval, ${`${retentionHours} h`}::interval,
      ${plainArray(wanted.map((r) => r.ticketId))}::integer[], ${plainArray(wanted.map((r) => r.eventId))}::integer[],
      ${plainArray(seats)}::integer[],
      ${plainArray(bulks.map(({ first }) => first))}::integer[], ${plainArray(bulks.map(({ last }) => last))}::integer[],
      ${plainArray(bulks.map(({ order }) => `${order.isAll}`))}::boolean[],
      ${textArray(bulks.map(({ order }) => order.idempotency.key))}::text[],
      ${plainArray(bulks.map(({ order }) => order.idempotency.fingerprint))}::uuid[],
      ${plainArray(indexes)}::integer[],
      ${plain((r) => r.partnerId)}::integer[], ${plain((r) => r.passCode)}::bigint[],
      ${plain((r) => r.attendeeDigest)}::uuid[], ${plain((r) => (r.returnsExisting ? 'true' : null))}::boolean[],
      ${plainArray(findRepeats(reservations))}::integer[], ${plain((r) => r.holdSeconds)}::integer[],
      ${text((r) => r.idempotency?.key ?? null)}::text[],
      ${plain((r) => r.idempotency?.fingerprint ?? null)}::uuid[],
      ${text((r) => r.fullName)}::text[], ${text((r) => r.emailAddress)}::text[],
      ${text((r) => r.phoneNumber)}::text[], ${text((r) => r.gender)}::text[],
      ${text((r) => r.tableOrSeat)}::text[], ${text((r) => r.extraData1)}::text[],
      ${text((r) => r.extraData2)}::text[], ${holdSharePercent ?? null}::integer
    ) as result`.execute(db);
  const outcomes = readOutcomes(rows[0]!.result, reservations);
  return bulks.length === 0 ? outcomes : gatherBulks(orders, outcomes);
}

/** Returns the bulk calls among the orders, each with the (1-based) positions of its first and last registration. */
function findBulks(orders: readonly Order[]) {
  const bulks: { order: BulkReservation; first: number; last: number }[] = [];
  let last = 0;
  for (const order of orders) {
    const first = last + 1;
    last += seatsOf(order);
    if (isBulk(order)) bulks.push({ order, first, last });
  }
  return bulks;
}

/**
 * Returns, by position, the (1-based) position of the first who asks for the same attendee of the same event, also for that one
 * itself; null throughout where nobody asks twice.
 */
function findRepeats(reservations: readonly Reservation[]): (number | null)[] {
  const firsts = new Map<string, number>();
  let isRepeated = false;
  const positions = reservations.map(({ eventId, attendeeDigest }, index) => {
    if (attendeeDigest === null) return null;
    const name = `${eventId} ${attendeeDigest}`;
    const first = firsts.get(name);
    if (first === undefined) firsts.set(name, index + 1);
    else isRepeated = true;
    return first ?? index + 1;
  });
  return isRepeated ? positions : [];
}

/** Returns the outcome of each order. What was said of a bulk call as a whole is said of each in it. */
function gatherBulks(orders: readonly Order[], outcomes: readonly SeatOutcome[]): Outcome[] {
  let next = 0;
  return orders.map((order): Outcome => {
    if (!isBulk(order)) return outcomes[next++]!;
    const ofCall = outcomes.slice(next, (next += order.reservations.length));
    const [first] = ofCall as [SeatOutcome];
    if (first.kind === 'key-reused') return first;
    return { kind: 'bulk', outcomes: ofCall, replayed: 'replayed' in first && first.replayed };
  });
}

/**
 * Returns the tickets that are wanted, in id order, each once for every event under which it was asked for, and how many
 * seats of it; and for each reservation the (1-based) index of its ticket.
 */
function countWanted(reservations: readonly Reservation[]) {
  const byTicket = new Map<string, { first: Reservation; seats: number; index: number }>();
  const entries = reservations.map((reservation) => {
    const name = `${reservation.ticketId} ${reservation.eventId}`;
    const entry = byTicket.get(name) ?? { first: reservation, seats: 0, index: 0 };
    if (entry.seats++ === 0) byTicket.set(name, entry);
    return entry;
  });
  const sorted = [...byTicket.values()].toSorted((a, b) => a.first.ticketId - b.first.ticketId);
  sorted.forEach((entry, index) => (entry.index = index + 1));
  return {
    wanted: sorted.map(({ first }) => first),
    seats: sorted.map((entry) => entry.seats),
    indexes: entries.map(({ index }) => index),
  };
}

function readOutcomes(
  { outcomes, serials, replays }: Result,
  reservations: readonly Reservation[],
): SeatOutcome[] {
  const before = new Map(replays.map(([position, serial, passCode]) => [position - 1, { serial, passCode }]));
  return reservations.map(({ passCode }, index): SeatOutcome => {
    const kind = outcomes?.[index] ?? 'registered';
    if (kind === 'key-reused') return { kind };
    const replay = before.get(index);
    if (kind === 'existing') return { kind, serial: replay!.serial!, passCode: replay!.passCode! };
    const replayed = replay !== undefined;
    if (kind !== 'registered') return { kind, replayed };
    const seat = replay ?? { serial: serials[index] ?? null, passCode };
    // A remembered answer is never made up: its registration is gone, so nobody knows its pass.
    if (seat.serial === null || seat.passCode === null) return FAILED;
    return { kind, serial: seat.serial, passCode: seat.passCode, replayed };
  });
}
