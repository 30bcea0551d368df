import { sql } from 'kysely';
import { askShards, plainArray, shardIds, type Database } from '@floodgate/database';
import type { QueueBacklog } from '@floodgate/queue';

// What happens to a batch once it has committed: one function for each statement.

/** Batches of one shard, by their ids. */
export interface ShardBatches {
  shardId: number;
  batchIds: string[];
}

/**
 * Finalizes batches and writes them into the journal: all of them or none. Idempotent: what is written already stays as it
 * is. One at a time in each shard; others wait.
 */
export async function confirmBatches(db: Database, batches: ShardBatches): Promise<void> {
  await writeBatches(db, batches, null);
}

/**
 * Gives a pending batch up: its registrations read `failed` and keep their seats until an operator redrives it. Returns
 * whether it was pending.
 */
export async function failBatch(db: Database, shardId: number, batchId: string, failure: string) {
  return (await writeBatches(db, { shardId, batchIds: [batchId] }, failure)) === 1;
}

async function writeBatches(db: Database, { shardId, batchIds }: ShardBatches, failure: string | null) {
  const { rows } = await sql<{ written: number }>`
    select finalize_batches(${shardId}::integer, ${plainArray(batchIds)}::uuid[], ${failure}::text) as written`.execute(
    db,
  );
  return rows[0]!.written;
}

/**
 * Leases up to `limit` batches of a shard that have waited too long for their finalization, or for their place in the
 * journal. Each is left alone for a time that doubles with every enqueue (5 s up to about 5 min), so a backlog is not
 * enqueued over and over. Two relays never get the same batch. Returns their ids.
 */
export async function leaseDueBatches(db: Database, shardId: number, limit: number): Promise<string[]> {
  const { rows } = await sql<{ ids: string[] }>`
    select lease_batches(${shardId}::integer, ${limit}::integer, '5 s'::interval) as ids`.execute(db);
  return rows[0]!.ids;
}

/** Takes a lease back after the queue refused the batches: they are due again after `delayMs`, and it does not count. */
export async function returnLease(db: Database, { shardId, batchIds }: ShardBatches, delayMs: number) {
  await sql`
    update batches set relay_at = now() + make_interval(secs => ${delayMs / 1000}), enqueues = enqueues - 1
    where shard_id = ${shardId} and id = any(${batchIds}::uuid[]) and journal_offset is null`.execute(db);
}

/** What is waiting for finalization, as Postgres knows it. `oldestPendingMs` of a redriven batch counts from its redrive. */
export interface Backlog extends QueueBacklog {
  /** What waits in these is not known; missing where all shards answer. */
  shardsAway?: number[];
}

// As its index says it.
const isPending = (shard: number) =>
  sql`shard_id = ${shard} and journal_offset is null and state = 'pending'`;

/** Returns the backlog of now, of the shards that answer. */
export async function readBacklog(db: Database): Promise<Backlog> {
  const { answers, away } = await askShards(await shardIds(db), async (shardId) => {
    const { rows } = await readShardBacklog(shardId).execute(db);
    return rows[0]!;
  });
  const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);
  const ages = answers.flatMap(({ oldestPendingMs }) => oldestPendingMs ?? []);
  return {
    pendingBatches: sum(answers.map(({ pendingBatches }) => pendingBatches)),
    failedBatches: sum(answers.map(({ failedBatches }) => failedBatches)),
    oldestPendingMs: ages.length === 0 ? null : Math.max(...ages),
    ...(away.length > 0 && { shardsAway: away }),
  };
}

const readShardBacklog = (shard: number) => sql<Backlog>`
  select
    (select count(*)::integer from batches where ${isPending(shard)}) as "pendingBatches",
    (select count(*)::integer from batches where shard_id = ${shard} and state = 'failed') as "failedBatches",
    (select (extract(epoch from clock_timestamp() - min(pending_since)) * 1000)::float8
       from batches where ${isPending(shard)}) as "oldestPendingMs"`;
