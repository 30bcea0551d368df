import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

/** A partner's part of an event. */
export interface PartOfEvent {
  shardId: number;
  eventId: number;
  partnerId: number;
}

/** Returns up to `limit` registrations of a test event that a partner has made and nobody has cancelled. */
export async function findUncancelled(
  db: Database,
  { shardId, eventId, partnerId }: PartOfEvent,
  limit: number,
): Promise<{ serial: number; passCode: number }[]> {
  return (
    db
      .selectFrom('registrations')
      .select(['serial', 'pass_code as passCode'])
      .where('shard_id', '=', shardId)
      .where('event_id', '=', eventId)
      .where('partner_id', '=', partnerId)
      // As in the index of attendees. No other leads from an event to its registrations.
      .where('attendee_digest', 'is not', null)
      .where('cancelled_at', 'is', null)
      .limit(limit)
      .execute()
  );
}

/** Forgets up to `limit` Idempotency-Keys of a partner under an event. Returns how many there were. */
export async function forgetKeys(
  db: Database,
  { shardId, eventId, partnerId }: PartOfEvent,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from idempotency_keys
    where shard_id = ${shardId} and partner_id = ${partnerId} and event_id = ${eventId} and key in (
      select key from idempotency_keys
      where shard_id = ${shardId} and partner_id = ${partnerId} and event_id = ${eventId}
      limit ${limit}
    )`.execute(db);
  return Number(numAffectedRows ?? 0);
}
