import { randomUUIDv7 } from 'node:crypto';
import { plainArray, textArray, type Database } from '@floodgate/database';
import type { Event } from '@floodgate/events';
import { sql } from 'kysely';
import type { SeatOutcome } from '../answers.ts';
import type { AttendeeFields, Reservation } from '../register/reservation.ts';
import {
  countWanted,
  findRepeats,
  readOutcomes,
  RELAY_GRACE_SECONDS,
  type Answer,
} from '../register/reserve-batch.ts';

/** How long it waits for a ticket that another transaction keeps locked. */
const LOCK_WITHIN_MS = 5_000;

/**
 * Reserves seats of an event for guests, all of the house partner, in the caller's transaction. With
 * `previewAfter`, stores nothing, and returns what would become of them after guests who take these seats, by
 * ticket. Returns one outcome per guest, in order.
 */
export async function reserveGuests(
  transaction: Database,
  { id: eventId, shardId }: Event,
  guests: readonly Reservation[],
  previewAfter?: ReadonlyMap<number, number>,
): Promise<SeatOutcome[]> {
  const { wanted, indexes } = countWanted(guests);
  const counted = previewAfter && wanted.map(({ ticketId }) => previewAfter.get(ticketId) ?? 0);
  const text = (field: keyof AttendeeFields | 'partnerReference') =>
    sql`${textArray(guests.map((guest) => guest[field]))}::text[]`;
  const { rows } = await sql<{ answer: Answer }>`
    select reserve_guests(
      ${shardId}::integer, ${randomUUIDv7()}::uuid, ${LOCK_WITHIN_MS}::integer, ${`${RELAY_GRACE_SECONDS} s`}::interval,
      ${eventId}::integer, ${plainArray(wanted.map(({ ticketId }) => ticketId))}::integer[],
      ${plainArray(wanted.map(({ seats }) => seats))}::integer[], ${plainArray(indexes)}::integer[],
      ${plainArray(guests.map(({ passCode }) => passCode))}::bigint[],
      ${plainArray(guests.map(({ attendeeDigest }) => attendeeDigest))}::uuid[],
      ${plainArray(guests.map(({ returnsExisting }) => (returnsExisting ? 'true' : null)))}::boolean[],
      ${plainArray(findRepeats(guests))}::integer[], ${text('fullName')}, ${text('emailAddress')},
      ${text('phoneNumber')}, ${text('gender')}, ${text('tableOrSeat')}, ${text('extraData1')}, ${text('extraData2')},
      ${text('partnerReference')}, ${counted ? plainArray(counted) : null}::integer[]
    ) as answer`.execute(transaction);
  return readOutcomes(rows[0]!.answer, guests);
}
