import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { ConsumerKind, Database } from '@floodgate/database';

// What capabilities do with their consumers while others may read for them. `db` is a transaction where more is changed with it.

/** Names a consumer. */
export interface ConsumerId {
  shardId: number;
  id: string;
}

/** What a consumer is to read. */
export interface NewConsumer {
  shardId: number;
  kind: ConsumerKind;
  eventId: number;
  /** 0: the entries of all partners. */
  partnerId: number;
  /** Whether it begins with what comes from now on, and not with the oldest that is kept. */
  fromNow?: boolean;
  /** Nobody reads for it before so much time has passed. */
  startsInSeconds?: number;
  /** Whether it is paused until somebody resumes it. */
  isPaused?: boolean;
}

/** Adds a consumer. Returns its id, and the cursor that it begins after. */
export async function addConsumer(
  db: Database,
  { shardId, kind, eventId, partnerId, fromNow = false, startsInSeconds = 0, isPaused = false }: NewConsumer,
): Promise<{ id: string; after: number }> {
  const id = randomUUID();
  const after = fromNow ? await journalHead(db, shardId) : 0;
  await db
    .insertInto('journal_consumers')
    .values({
      shard_id: shardId,
      id,
      kind,
      event_id: eventId,
      partner_id: partnerId,
      last_offset: after,
      state: isPaused ? 'paused' : 'active',
      next_at: sql<Date>`now() + make_interval(secs => ${startsInSeconds})`,
    })
    .execute();
  return { id, after };
}

/** Returns the cursor after everything that the journal of a shard tells by now. */
export async function journalHead(db: Database, shardId: number): Promise<number> {
  const heads = db.selectFrom('journal_heads').select('last_offset').where('shard_id', '=', shardId);
  return (await heads.executeTakeFirstOrThrow()).last_offset;
}

const consumerOf = (db: Database, { shardId, id }: ConsumerId) =>
  db.updateTable('journal_consumers').where('shard_id', '=', shardId).where('id', '=', id);

/** Whoever delivers now goes no further. */
const WITHOUT_LEASE = { lease: null, leased_until: null } as const;
/** As if it had never failed. */
const WELL = { failures: 0, failing_since: null, next_at: sql<Date>`now()` } as const;
/** It is tried at once. */
const AFRESH = { ...WELL, ...WITHOUT_LEASE } as const;

/** What becomes of who delivers now. Stays: what is under way ends before anybody else begins. */
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

/** Has a consumer go on where it stopped, whoever stopped it. */
export async function resumeConsumer(
  db: Database,
  consumer: ConsumerId,
  lease: LeaseThen = 'ends',
): Promise<void> {
  await consumerOf(db, consumer)
    .set({ state: 'active', ...(lease === 'ends' ? AFRESH : WELL) })
    .execute();
}

/**
 * Has a consumer that is active make its next attempt at once, from another cursor where one is given. `until: null`: what was
 * under way is not made again.
 */
export async function retryConsumer(
  db: Database,
  consumer: ConsumerId,
  { cursor, until }: { cursor?: number; until?: null } = {},
): Promise<void> {
  await consumerOf(db, consumer)
    .set({
      ...AFRESH,
      ...(cursor !== undefined && { last_offset: cursor }),
      ...(until === null && { until }),
    })
    .execute();
}

/** Stops a consumer for good. A process that delivers for it keeps its lease, and the row stays for it. */
export async function disableConsumer(db: Database, consumer: ConsumerId): Promise<void> {
  await consumerOf(db, consumer).set({ state: 'disabled' }).execute();
}

/** Deletes the disabled consumers of an event for which no process delivers any more. */
export async function deleteDisabledConsumers(
  db: Database,
  { shardId, eventId, kind }: Pick<NewConsumer, 'shardId' | 'eventId' | 'kind'>,
): Promise<void> {
  await db
    .deleteFrom('journal_consumers')
    .where('shard_id', '=', shardId)
    .where('event_id', '=', eventId)
    .where('kind', '=', kind)
    .where('state', '=', 'disabled')
    .where(({ eb, or }) => or([eb('leased_until', 'is', null), eb('leased_until', '<=', sql<Date>`now()`)]))
    .execute();
}

/** Deletes a consumer. Whoever delivers now goes no further. */
export async function deleteConsumer(db: Database, { shardId, id }: ConsumerId): Promise<void> {
  await db.deleteFrom('journal_consumers').where('shard_id', '=', shardId).where('id', '=', id).execute();
}
