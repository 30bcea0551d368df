import { sql } from 'kysely';
import type { Database } from '@floodgate/database';
import { reservationsOf, type Order } from '../register/reserve-batch.ts';
import { DEFAULT_RETENTION_HOURS } from './retention.ts';

/**
 * Deletes the oldest expired idempotency keys of a shard: `limit` of them, and those of the same moment as the last. Returns how
 * many there were.
 */
export async function deleteExpiredIdempotencyKeys(
  db: Database,
  shardId: number,
  limit: number,
  retentionHours = DEFAULT_RETENTION_HOURS,
): Promise<number> {
  // By their time: the worker may not know the keys, and a privilege on ctid does not move with a shard of Citus.
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

/** Deletes those of the orders' idempotency keys that have expired, so that they can be used anew. */
export async function forgetExpiredKeys(
  db: Database,
  orders: readonly Order[],
  retentionHours = DEFAULT_RETENTION_HOURS,
): Promise<void> {
  const keyed = orders.flatMap((order) => {
    const { shardId, partnerId, eventId } = reservationsOf([order])[0]!;
    return order.idempotency ? [{ shardId, partnerId, eventId, key: order.idempotency.key }] : [];
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
