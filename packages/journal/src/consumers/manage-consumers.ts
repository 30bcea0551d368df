import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { ConsumerKind, Database } from '@floodgate/database';

// Changes of consumers by capabilities, while another process may hold the lease. `db` is a transaction if more is changed with it.

/** Identifies a consumer. */
export interface ConsumerId {
  shardId: number;
  id: string;
}

export interface NewConsumer {
  shardId: number;
  kind: ConsumerKind;
  eventId: number;
  /** 0: the entries of all partners. */
  partnerId: number;
  /** Whether it starts with the next entry, instead of the oldest that is kept. */
  fromNow?: boolean;
  /** Nobody leases it earlier. */
  startsInSeconds?: number;
  /** Whether it is paused until it is resumed. */
  isPaused?: boolean;
}

/** Adds a consumer. Returns its id and its first cursor. */
export async function addConsumer(
  db: Database,
  { shardId, kind, eventId, partnerId, fromNow = false, startsInSeconds = 0, isPaused = false }: NewConsumer,
): Promise<{ id: string; cursor: number }> {
  const id = randomUUID();
  const cursor = fromNow ? await journalHead(db, shardId) : 0;
  await db
    .insertInto('journal_consumers')
    .values({
      shard_id: shardId,
      id,
      kind,
      event_id: eventId,
      partner_id: partnerId,
      last_offset: cursor,
      state: isPaused ? 'paused' : 'active',
      next_at: sql<Date>`now() + make_interval(secs => ${startsInSeconds})`,
    })
    .execute();
  return { id, cursor };
}

/** Returns the cursor after the last entry of a shard. */
export async function journalHead(db: Database, shardId: number): Promise<number> {
  const heads = db.selectFrom('journal_heads').select('last_offset').where('shard_id', '=', shardId);
  return (await heads.executeTakeFirstOrThrow()).last_offset;
}

const consumerOf = (db: Database, { shardId, id }: ConsumerId) =>
  db.updateTable('journal_consumers').where('shard_id', '=', shardId).where('id', '=', id);

const WITHOUT_LEASE = { lease: null, leased_until: null } as const;
const WITHOUT_FAILURES = { failures: 0, failing_since: null, next_at: sql<Date>`now()` } as const;

/** Whether the lease ends with the change, or lasts until what is in flight has ended. */
export type LeaseThen = 'ends' | 'stays';

/** Locks a consumer until the transaction ends. Returns false if it was deleted. */
export async function lockConsumer(transaction: Database, { shardId, id }: ConsumerId): Promise<boolean> {
  const consumer = await transaction
    .selectFrom('journal_consumers')
    .select('id')
    .where('shard_id', '=', shardId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  return consumer !== undefined;
}

/** Stops a consumer until it is resumed. */
export async function pauseConsumer(
  db: Database,
  consumer: ConsumerId,
  lease: LeaseThen = 'ends',
): Promise<void> {
  await consumerOf(db, consumer)
    .set({ state: 'paused', ...(lease === 'ends' && WITHOUT_LEASE) })
    .execute();
}

/** Continues a paused or disabled consumer where it stopped. Its next attempt is due at once. */
export async function resumeConsumer(
  db: Database,
  consumer: ConsumerId,
  lease: LeaseThen = 'ends',
): Promise<void> {
  await consumerOf(db, consumer)
    .set({ state: 'active', ...WITHOUT_FAILURES, ...(lease === 'ends' && WITHOUT_LEASE) })
    .execute();
}

/**
 * Makes the next attempt of an active consumer due at once, from another cursor if one is given. With `inFlightUntil: null` the range
 * in flight is not repeated.
 */
export async function retryConsumer(
  db: Database,
  consumer: ConsumerId,
  { cursor, inFlightUntil }: { cursor?: number; inFlightUntil?: null } = {},
): Promise<void> {
  await consumerOf(db, consumer)
    .set({
      ...WITHOUT_FAILURES,
      ...WITHOUT_LEASE,
      ...(cursor !== undefined && { last_offset: cursor }),
      ...(inFlightUntil === null && { in_flight_until: null }),
    })
    .execute();
}

/** Deletes a consumer. A process that holds its lease loses it. */
export async function deleteConsumer(db: Database, { shardId, id }: ConsumerId): Promise<void> {
  await db.deleteFrom('journal_consumers').where('shard_id', '=', shardId).where('id', '=', id).execute();
}
