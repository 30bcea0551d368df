import { randomUUID } from 'node:crypto';
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '@floodgate/database';
import type { Consumer, ConsumerId } from '@floodgate/journal';
import type { Message } from './messages.ts';
import type { Attempt } from './post-message.ts';

/**
 * Records a delivered message, and the end of the next range in flight (null if there is none). Returns false
 * if the lease was lost or the endpoint was paused. Then the caller must send nothing more.
 */
export async function recordDelivered(
  db: Database,
  consumer: Consumer,
  message: Message,
  { tookMs, httpStatus }: Attempt,
  nextInFlight: number | null,
): Promise<boolean> {
  const { shardId, id, lease, leaseSeconds } = consumer;
  const { rows } = await sql<{ isKept: boolean }>`
    select webhook_delivered(
      ${shardId}, ${id}, ${lease}, make_interval(secs => ${leaseSeconds}),
      ${message.id}, ${message.after}, ${message.last}, ${message.entries},
      ${tookMs}, ${httpStatus}, ${nextInFlight}
    ) as "isKept"`.execute(db);
  Object.assign(consumer, { failures: 0, failingSince: null });
  return rows[0]!.isKept;
}

/** Records an attempt that delivered nothing, or a test. Records nothing if the endpoint was deleted. */
export async function recordAttempt(
  db: Database,
  { shardId, id }: ConsumerId,
  message: Pick<Message, 'id'> & Partial<Message>,
  { outcome, tookMs, httpStatus, error }: Attempt,
) {
  const { after = null, last = null, entries = 0 } = message;
  // A deletion of the endpoint starts with the consumer, so it waits for this lock.
  await sql`
    insert into webhook_attempts (
      shard_id, endpoint_id, at, id, message_id, after_offset, last_offset, entries,
      took_ms, outcome, http_status, error
    )
    select shard_id, id, now(), ${randomUUID()}::uuid, ${message.id}::text, ${after}::bigint, ${last}::bigint,
      ${entries}::integer, ${tookMs}::integer, ${outcome}::text, ${httpStatus}::integer, ${error}::text
    from journal_consumers where shard_id = ${shardId} and id = ${id}
    for key share`.execute(db);
}

const DELETED_PER_STATEMENT = 5_000;

/**
 * Deletes up to 5,000 attempts of a shard that are older than `days`, or whose endpoint was deleted. Returns
 * whether more may be left. It looks up each endpoint in the index.
 */
export async function expireAttempts(db: Database, shardId: number, days: number) {
  const next = (after: RawBuilder<unknown>) => sql`
    select endpoint_id from webhook_attempts
    where shard_id = ${shardId} and endpoint_id > ${after} order by endpoint_id limit 1`;
  const { numAffectedRows } = await sql`
    delete from webhook_attempts
    where shard_id = ${shardId} and ctid = any(array(
      with recursive endpoint (id) as (
        (${next(sql`'00000000-0000-0000-0000-000000000000'`)})
        union all
        select (${next(sql`endpoint.id`)}) from endpoint where id is not null
      )
      select old.ctid from endpoint cross join lateral (
        select ctid from webhook_attempts
        -- One bound for both cases, so that the index finds all rows to delete.
        where shard_id = ${shardId} and endpoint_id = endpoint.id and at < now() - make_interval(days => case
          when exists (select from webhook_endpoints where shard_id = ${shardId} and id = endpoint.id)
          then ${days}::integer else 0 end)
        order by at limit ${DELETED_PER_STATEMENT}
      ) old
      limit ${DELETED_PER_STATEMENT}
    ))`.execute(db);
  return Number(numAffectedRows) >= DELETED_PER_STATEMENT;
}
