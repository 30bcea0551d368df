import { sql } from 'kysely';
import type { Database } from '@floodgate/database';
import { reservationsOf, type Submission } from '../register/submission.ts';
import { DEFAULT_RETENTION_HOURS } from './retention.ts';

/**
 * Deletes the oldest `limit` expired idempotency keys of a shard, and those with the same time as the last. Returns the number of
 * deleted keys.
 */
export async function deleteExpiredIdempotencyKeys(
  db: Database,
  shardId: number,
  limit: number,
  retentionHours = DEFAULT_RETENTION_HOURS,
): Promise<number> {
  // By time: the worker must not read the keys, and Citus does not move a privilege on ctid with a shard.
  const { numAffectedRows } = await sql`
    delete from idempotency_keys
    where shard_id = ${shardId} and created_at <= (
      select max(created_at) from (
        select created_at from idempotency_keys
        where shard_id = ${shardId} and created_at <= now() - make_interval(hours => ${retentionHours}::integer)
        order by created_at limit ${limit}
      ) oldest
    )`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Deletes those of the submissions' idempotency keys that have expired, so that they can be used again. */
export async function forgetExpiredKeys(
  db: Database,
  submissions: readonly Submission[],
  retentionHours = DEFAULT_RETENTION_HOURS,
): Promise<void> {
  const keyed = submissions.flatMap((submission) => {
    const { shardId, partnerId, eventId } = reservationsOf([submission])[0]!;
    return submission.idempotency ? [{ shardId, partnerId, eventId, key: submission.idempotency.key }] : [];
  });
  if (keyed.length === 0) return;
  await sql`
    delete from idempotency_keys expired
    using unnest(
      ${keyed.map((r) => r.partnerId)}::integer[], ${keyed.map((r) => r.eventId)}::integer[],
      ${keyed.map((r) => r.key)}::text[]
    ) as used (partner_id, event_id, key)
    where expired.shard_id = ${keyed[0]!.shardId} and expired.partner_id = used.partner_id and expired.event_id = used.event_id and expired.key = used.key
      and expired.created_at
        <= now() - make_interval(hours => ${retentionHours}::integer)`.execute(db);
}
