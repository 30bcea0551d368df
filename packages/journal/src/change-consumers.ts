import { randomUUID } from 'node:crypto';
import { inCamelCase, type ConsumerKind, type Database } from '@floodgate/database';
import { sql } from 'kysely';
import {
  UNLEASED,
  updateConsumer,
  type Consumer,
  type ConsumerChange,
  type ConsumerId,
} from './consumers.ts';

// Changes by capabilities and operators, while a process may hold the lease. `db` is a transaction if the
// caller changes more with it.

export interface NewConsumer extends Pick<Consumer, 'shardId' | 'eventId' | 'partnerId'> {
  kind: ConsumerKind;
  /** Whether it starts with the next entry instead of the oldest entry that is kept. */
  fromNow?: boolean;
  /** Whether it is paused until it is resumed. */
  isPaused?: boolean;
}

/** Adds a consumer. Returns its id and its first cursor. */
export async function addConsumer(
  db: Database,
  { shardId, kind, eventId, partnerId, fromNow = false, isPaused = false }: NewConsumer,
): Promise<Pick<Consumer, 'id' | 'cursor'>> {
  const id = randomUUID();
  const cursor = fromNow ? await journalHead(db, shardId) : 0;
  const state = isPaused ? 'paused' : 'active';
  const consumer = { shardId, id, kind, eventId, partnerId, lastOffset: cursor, state } as const;
  await inCamelCase(db).insertInto('journalConsumers').values(consumer).execute();
  return { id, cursor };
}

/** Returns the cursor after the last entry of a shard. */
export async function journalHead(db: Database, shardId: number) {
  const heads = db.selectFrom('journal_heads').select('last_offset').where('shard_id', '=', shardId);
  return (await heads.executeTakeFirstOrThrow()).last_offset;
}

/** Locks a consumer until the transaction ends. Returns false if it was deleted. */
export async function lockConsumer(db: Database, { shardId, id }: ConsumerId) {
  const { rows } = await sql`
    select from journal_consumers where shard_id = ${shardId} and id = ${id} for update`.execute(db);
  return rows.length > 0;
}

/** Changes a consumer. A process that holds its lease loses the lease. */
const change = async (db: Database, consumer: ConsumerId, changes: ConsumerChange) =>
  void (await updateConsumer(db, consumer, { ...UNLEASED, ...changes }).execute());

/** Stops a consumer until it is resumed. */
export const pauseConsumer = (db: Database, consumer: ConsumerId) =>
  change(db, consumer, { state: 'paused' });

/**
 * Makes the next attempt of a consumer due immediately. `changes` can also set another cursor. If they set
 * the range in flight to null, it is not repeated.
 */
export const retryConsumer = (db: Database, consumer: ConsumerId, changes: ConsumerChange = {}) =>
  change(db, consumer, { failures: 0, failing_since: null, next_at: sql<Date>`now()`, ...changes });

/** Resumes a paused or disabled consumer where it stopped. Its next attempt is due immediately. */
export const resumeConsumer = (db: Database, consumer: ConsumerId) =>
  retryConsumer(db, consumer, { state: 'active' });

/** Deletes a consumer. A process that holds its lease loses the lease. */
export async function deleteConsumer(db: Database, { shardId, id }: ConsumerId) {
  await db.deleteFrom('journal_consumers').where('shard_id', '=', shardId).where('id', '=', id).execute();
}

/**
 * Advances the cursors of idle consumers. Otherwise such a cursor would expire with the entries of other
 * events. Cursors at 0 do not expire and do not advance.
 */
export async function advanceIdleConsumers(db: Database, shardId: number, kind: ConsumerKind) {
  // An idle consumer has nothing to read before the end of the last scan. A scan that runs now finds later
  // entries.
  await sql`
    update journal_consumers set last_offset = scans.last_offset from consumer_scans scans
    where scans.shard_id = ${shardId} and journal_consumers.shard_id = ${shardId}
      and kind = ${kind} and not is_behind and in_flight_until is null
      and journal_consumers.last_offset > 0
      and journal_consumers.last_offset < scans.last_offset`.execute(db);
}
