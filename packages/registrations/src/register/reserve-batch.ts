import { sql } from 'kysely';
import type { RegistrationRequest } from '@floodgate/contract';
import { plainArray, textArray, type Database } from '@floodgate/database';
import { DEFAULT_RETENTION_HOURS } from '../idempotency/retention.ts';
import type { Outcome, Refusal } from './outcome.ts';

/** One validated request for a seat: the attendee's fields, and whose they are. */
export interface Reservation extends Required<Omit<RegistrationRequest, 'organizedEventTicketID'>> {
  /** Where its event lives. */
  shardId: number;
  partnerId: number;
  eventId: number;
  ticketId: number;
  /** Ten random digits, drawn by the caller. */
  passCode: number;
  /** UUID-sized digest of the attendee's e-mail address; only under events that reject duplicates. */
  attendeeDigest: string | null;
  /** Idempotency key with the UUID-sized fingerprint of its request. */
  idempotency: { key: string; fingerprint: string } | null;
}

/** What the function returns. */
interface Result {
  /** By position; null where all are registered. */
  outcomes: (Refusal | 'registered' | 'key-reused' | 'failed')[] | null;
  /** By position: of who got a seat just now. */
  serials: (number | null)[];
  /** Of who is answered as before: position, serial and pass code. */
  replays: [position: number, serial: number | null, passCode: number | null][];
}

/** How long after its commit a batch is left to the queue before the relay enqueues it again. */
export const RELAY_GRACE_SECONDS = 5;

export interface ReserveOptions {
  /** How long it waits for a row that another transaction has locked; by default as long as the statement may take. */
  lockWithinMs?: number;
  /** How long idempotency keys count. */
  retentionHours?: number;
}

/**
 * Reserves seats for a whole batch of one shard: one function call, one commit. Seats go by position in the batch while
 * they last. Returns one outcome per reservation, in order. Nothing happens, or all of it.
 *
 * A batch that grants seats has a row under `batchId`. That is what makes a lost connection harmless: see voidBatch.
 * The caller guarantees that no two reservations of a batch share an idempotency key or an attendee digest.
 */
export async function reserveBatch(
  db: Database,
  batchId: string,
  reservations: readonly Reservation[],
  { lockWithinMs = 0, retentionHours = DEFAULT_RETENTION_HOURS }: ReserveOptions = {},
): Promise<Outcome[]> {
  const { wanted, seats, indexes } = countWanted(reservations);
  const plain = (read: (reservation: Reservation) => number | string | null) =>
    plainArray(reservations.map(read));
  const text = (read: (reservation: Reservation) => string | null) => textArray(reservations.map(read));
  // In the select list and with plain values alone: so Citus sends the whole call to the shard's node.
  const { rows } = await sql<{ result: Result }>`
    select reserve_batch(
      ${reservations[0]!.shardId}::integer, ${batchId}::uuid, ${lockWithinMs}::integer,
      ${`${RELAY_GRACE_SECONDS} s`}::interval, ${`${retentionHours} h`}::interval,
      ${plainArray(wanted.map((r) => r.ticketId))}::integer[], ${plainArray(wanted.map((r) => r.eventId))}::integer[],
      ${plainArray(seats)}::integer[], ${plainArray(indexes)}::integer[],
      ${plain((r) => r.partnerId)}::integer[], ${plain((r) => r.passCode)}::bigint[],
      ${plain((r) => r.attendeeDigest)}::uuid[], ${text((r) => r.idempotency?.key ?? null)}::text[],
      ${plain((r) => r.idempotency?.fingerprint ?? null)}::uuid[],
      ${text((r) => r.fullName)}::text[], ${text((r) => r.emailAddress)}::text[],
      ${text((r) => r.phoneNumber)}::text[], ${text((r) => r.gender)}::text[],
      ${text((r) => r.tableOrSeat)}::text[], ${text((r) => r.extraData1)}::text[],
      ${text((r) => r.extraData2)}::text[]
    ) as result`.execute(db);
  return readOutcomes(rows[0]!.result, reservations);
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

function readOutcomes({ outcomes, serials, replays }: Result, reservations: readonly Reservation[]) {
  const before = new Map(replays.map(([position, serial, passCode]) => [position - 1, { serial, passCode }]));
  return reservations.map(({ passCode }, index): Outcome => {
    const kind = outcomes?.[index] ?? 'registered';
    if (kind === 'key-reused' || kind === 'failed') return { kind };
    const replay = before.get(index);
    const replayed = replay !== undefined;
    if (kind !== 'registered') return { kind, replayed };
    const seat = replay ?? { serial: serials[index] ?? null, passCode };
    if (seat.serial === null || seat.passCode === null) throw new Error('a registered outcome has no serial');
    return { kind, serial: seat.serial, passCode: seat.passCode, replayed };
  });
}
