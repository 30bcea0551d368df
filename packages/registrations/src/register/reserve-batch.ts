import { sql } from 'kysely';
import { plainArray, textArray, type Database } from '@floodgate/database';
import type { Outcome, RefusedSeat, SeatOutcome } from '../answers.ts';
import { isBulk, reservationsOf, seatsOf, type Reservation, type Submission } from './reservation.ts';

/** The contract promises this lifetime of idempotency keys to partners. */
export const DEFAULT_RETENTION_HOURS = 24;
/** Seconds after the commit until the relay finalizes a batch that is still pending. */
export const RELAY_GRACE_SECONDS = 5;

/** Settings of every batch. */
export interface ReserveSettings {
  /** How long the statement waits for a row lock. By default only its own timeout limits this. */
  lockWithinMs?: number;
  /** Lifetime of idempotency keys. */
  retentionHours?: number;
  /** How much of a ticket one partner may hold. By default all of it. */
  holdSharePercent?: number;
  /** Longest hold. */
  holdLimitSeconds?: number;
}

export interface ReserveOptions extends ReserveSettings {
  /** The batch was sent before with this id, and the connection was lost: returns the same outcomes. */
  isRepeat?: boolean;
}

/** The result of the SQL function. */
export interface Answer {
  /** By position. Null: all are registered. */
  outcomes: SeatOutcome['kind'][] | null;
  /**
   * By position: the serials of seats granted by this batch. Null: all are granted, and they follow `first`.
   */
  serials: (number | null)[] | null;
  first?: number | null;
  /** Registrations that get an earlier answer, or whose attendee already has a seat. */
  replays: [position: number, serial: number | null, passCode: number | null][];
  /**
   * Registrations that would exceed what the partner can hold of a ticket, each with this number of seats.
   */
  limits?: [position: number, limit: number][] | null;
  /** By position: when the hold ends. Null: the batch has no baskets. */
  expires?: (string | null)[] | null;
}

/**
 * Reserves seats for a batch of one shard in one function call and one commit, all or nothing. Grants seats
 * by position while they last. Returns one outcome per submission, in order. Idempotent by `batchId`: see
 * `isRepeat`. No two submissions of a batch may have the same idempotency key.
 */
export async function reserveBatch(
  db: Database,
  batchId: string,
  submissions: readonly Submission[],
  {
    isRepeat = false,
    lockWithinMs = 0,
    retentionHours = DEFAULT_RETENTION_HOURS,
    holdSharePercent,
    holdLimitSeconds = Infinity,
  }: ReserveOptions = {},
): Promise<Outcome[]> {
  const reservations = reservationsOf(submissions);
  const { wanted, indexes } = countWanted(reservations);
  const calls = findCalls(submissions);
  // Most columns have no value, so they are not gathered first.
  const column = <Value extends number | string>(
    read: (reservation: Reservation) => Value | null,
    format: (values: (Value | null)[]) => string | null,
  ) =>
    reservations.some((reservation) => read(reservation) !== null) ? format(reservations.map(read)) : null;
  const plain = (read: (reservation: Reservation) => number | string | null) => column(read, plainArray);
  const text = (read: (reservation: Reservation) => string | null) => column(read, textArray);
  // Citus sends the whole call to the shard's server only if it is in the select list and its arguments are
  // plain values.
  const { rows } = await sql<{ answer: Answer }>`
    select reserve_batch(
      ${reservations[0]!.shardId}::integer, ${batchId}::uuid, ${isRepeat}::boolean, ${lockWithinMs}::integer,
      ${`${RELAY_GRACE_SECONDS} s`}::interval, ${`${retentionHours} h`}::interval,
      ${plainArray(wanted.map((r) => r.ticketId))}::integer[], ${plainArray(wanted.map((r) => r.eventId))}::integer[],
      ${plainArray(wanted.map((r) => r.seats))}::integer[],
      ${plainArray(calls.map(({ first }) => first))}::integer[],
      ${plainArray(calls.map(({ last }) => last))}::integer[],
      ${plainArray(calls.map(({ isAll }) => `${isAll}`))}::boolean[],
      ${textArray(calls.map(({ key }) => key))}::text[],
      ${plainArray(calls.map(({ fingerprint }) => fingerprint))}::uuid[],
      ${plainArray(indexes)}::integer[],
      ${plain((r) => r.partnerId)}::integer[], ${plain((r) => r.passCode)}::bigint[],
      ${plain((r) => r.attendeeDigest)}::uuid[], ${plain((r) => (r.returnsExisting ? 'true' : null))}::boolean[],
      ${plainArray(findRepeats(reservations))}::integer[],
      ${plain((r) => r.holdSeconds && Math.min(r.holdSeconds, holdLimitSeconds))}::integer[],
      ${text((r) => r.fullName)}::text[], ${text((r) => r.emailAddress)}::text[],
      ${text((r) => r.phoneNumber)}::text[], ${text((r) => r.gender)}::text[],
      ${text((r) => r.tableOrSeat)}::text[], ${text((r) => r.extraData1)}::text[],
      ${text((r) => r.extraData2)}::text[], ${holdSharePercent ?? null}::integer,
      ${plain((r) => r.holdId)}::uuid[], ${text((r) => r.partnerReference)}::text[],
      true
    ) as answer`.execute(db);
  const { answer } = rows[0]!;
  return gatherBulks(submissions, readOutcomes(answer, reservations), answer.expires);
}

/** The tickets that a batch wants, and which of them each reservation wants. */
interface WantedTickets {
  /** In the order of ticket and event. A ticket is listed once for each event under which it is requested. */
  wanted: WantedTicket[];
  /** By reservation: the (1-based) index of its ticket. */
  indexes: number[];
}

interface WantedTicket {
  ticketId: number;
  eventId: number;
  seats: number;
  /** 1-based. */
  index: number;
}

export function countWanted(reservations: readonly Reservation[]): WantedTickets {
  const byTicket = new Map<string, WantedTicket>();
  const tickets = reservations.map(({ ticketId, eventId }) => {
    const name = `${ticketId} ${eventId}`;
    let ticket = byTicket.get(name);
    if (!ticket) {
      ticket = { ticketId, eventId, seats: 0, index: 0 };
      byTicket.set(name, ticket);
    }
    ticket.seats += 1;
    return ticket;
  });
  const wanted = [...byTicket.values()].toSorted((a, b) => a.ticketId - b.ticketId || a.eventId - b.eventId);
  for (const [index, ticket] of wanted.entries()) ticket.index = index + 1;
  return { wanted, indexes: tickets.map(({ index }) => index) };
}

/**
 * Returns the bulk calls and those with a key, each with the (1-based) positions of its first and last
 * registration.
 */
function findCalls(submissions: readonly Submission[]) {
  let last = 0;
  return submissions.flatMap((submission) => {
    const first = last + 1;
    last += seatsOf(submission);
    const { key = null, fingerprint = null } = submission.idempotency ?? {};
    if (!isBulk(submission) && key === null) return [];
    return { first, last, key, fingerprint, isAll: isBulk(submission) && submission.isAll };
  });
}

/**
 * Returns, by position, the (1-based) position of the first reservation for the same attendee of the same
 * event. Empty if no attendee appears twice.
 */
export function findRepeats(reservations: readonly Reservation[]): (number | null)[] {
  const firsts = new Map<string, number>();
  let isRepeated = false;
  const positions = reservations.map(({ eventId, attendeeDigest }, index) => {
    if (attendeeDigest === null) return null;
    const first = firsts.getOrInsert(`${eventId} ${attendeeDigest}`, index + 1);
    if (first !== index + 1) isRepeated = true;
    return first;
  });
  return isRepeated ? positions : [];
}

/** Returns the outcome of each registration. */
export function readOutcomes(
  { outcomes, serials, first, replays, limits }: Answer,
  reservations: readonly Reservation[],
): SeatOutcome[] {
  const earlier = new Map(
    replays.map(([position, serial, passCode]) => [position - 1, { serial, passCode }]),
  );
  const holdLimits = new Map((limits ?? []).map(([position, limit]) => [position - 1, limit]));
  const granted = serials ?? reservations.map((_, index) => first! + index);
  return reservations.map(({ passCode }, index): SeatOutcome => {
    const kind = outcomes?.[index] ?? 'registered';
    if (kind === 'key-reused') return { kind };
    const replay = earlier.get(index);
    if (kind === 'existing') return { kind, serial: replay!.serial!, passCode: replay!.passCode! };
    const replayed = replay !== undefined;
    if (kind !== 'registered') return refused(kind, replayed, holdLimits.get(index));
    const seat = replay ?? { serial: granted[index] ?? null, passCode };
    // The registration of the earlier answer no longer exists, so its pass reference is unknown.
    if (seat.serial === null || seat.passCode === null) return { kind: 'failed' };
    return { kind, serial: seat.serial, passCode: seat.passCode, replayed };
  });
}

const refused = (kind: RefusedSeat['kind'], replayed: boolean, limit?: number): RefusedSeat => ({
  kind,
  replayed,
  ...(limit !== undefined && { limit }),
});

/**
 * Returns the outcome of each submission. The SQL function repeats an outcome of a whole bulk call for each
 * of its registrations.
 */
function gatherBulks(
  submissions: readonly Submission[],
  outcomes: SeatOutcome[],
  expires: Answer['expires'],
): Outcome[] {
  if (!submissions.some(isBulk)) return outcomes;
  let next = 0;
  return submissions.map((submission): Outcome => {
    const position = next;
    next += seatsOf(submission);
    const first = outcomes[position]!;
    if (!isBulk(submission) || first.kind === 'key-reused') return first;
    const replayed = 'replayed' in first && first.replayed;
    const expiry = expires?.[position];
    return {
      kind: 'bulk',
      outcomes: outcomes.slice(position, next),
      replayed,
      ...(expiry && { heldUntil: new Date(expiry) }),
    };
  });
}
