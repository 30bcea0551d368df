import { sql } from 'kysely';
import type { Database } from '@floodgate/database';
import { whole } from '@floodgate/service';
import { reservationsOf, type Submission } from '../register/reservation.ts';
import { DEFAULT_RETENTION_HOURS } from '../register/reserve-batch.ts';

/** The API ignores older keys, and the worker deletes them. */
export const retentionSettings = {
  IDEMPOTENCY_RETENTION_HOURS: whole(
    'lifetime of an Idempotency-Key, the same for API and worker',
    [DEFAULT_RETENTION_HOURS, 8_760],
    DEFAULT_RETENTION_HOURS,
  ),
};

const isExpired = (retentionHours: number) =>
  sql<boolean>`created_at <= now() - make_interval(hours => ${retentionHours}::integer)`;

/**
 * Deletes the oldest `limit` expired idempotency keys of a shard, and those with the same time as the last.
 * Returns the number of deleted keys.
 */
export async function deleteExpiredIdempotencyKeys(
  db: Database,
  shardId: number,
  limit: number,
  retentionHours = DEFAULT_RETENTION_HOURS,
) {
  // Selected by time: the worker has no privilege to read the keys, and Citus does not move a privilege on
  // ctid with a shard.
  const { numAffectedRows } = await sql`
    delete from idempotency_keys
    where shard_id = ${shardId} and ${isExpired(retentionHours)} and created_at <= (
      select max(created_at) from (
        select created_at from idempotency_keys where shard_id = ${shardId} order by created_at limit ${limit}
      ) oldest
    )`.execute(db);
  return Number(numAffectedRows);
}

/** Deletes the expired idempotency keys that conflict with these submissions. */
export async function forgetExpiredKeys(
  db: Database,
  submissions: readonly Submission[],
  retentionHours = DEFAULT_RETENTION_HOURS,
) {
  const keys = submissions.flatMap(({ idempotency }) => idempotency?.key ?? []);
  if (keys.length === 0) return;
  const calls = reservationsOf(submissions);
  // This may also delete expired keys of the same name that other partners used.
  await db
    .deleteFrom('idempotency_keys')
    .where('shard_id', '=', calls[0]!.shardId)
    .where(isExpired(retentionHours))
    .where('partner_id', 'in', [...new Set(calls.map(({ partnerId }) => partnerId))])
    .where('event_id', 'in', [...new Set(calls.map(({ eventId }) => eventId))])
    .where('key', 'in', keys)
    .execute();
}
