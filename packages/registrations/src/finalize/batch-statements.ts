import { sql } from 'kysely';
import { askShards, plainArray, shardIds, type Database } from '@floodgate/database';
import type { QueueBacklog } from '@floodgate/queue';

/** Batches of one shard, by their ids. */
export interface ShardBatches {
  shardId: number;
  batchIds: string[];
}

/** Bounds how long one pass holds the journal head. */
const CHANGES_PER_PASS = 1_000;

/**
 * Confirms batches, and publishes them and the oldest changes of their shard: all or nothing. Idempotent: what is in the journal
 * already is skipped. One call at a time in each shard; others wait. Returns whether there may be more changes.
 */
export async function confirmBatches(db: Database, batches: ShardBatches, changes = CHANGES_PER_PASS) {
  const [, published] = await publish(db, batches, null, changes);
  return changes > 0 && published === changes;
}

/**
 * Fails a pending batch: its registrations read `failed` and keep their seats until an operator redrives it. Returns
 * whether it was pending.
 */
export async function failBatch(db: Database, shardId: number, batchId: string, failure: string) {
  const [failed] = await publish(db, { shardId, batchIds: [batchId] }, failure, 0);
  return failed === 1;
}

async function publish(
  db: Database,
  { shardId, batchIds }: ShardBatches,
  failure: string | null,
  changes: number,
) {
  const { rows } = await sql<{ counts: [batches: number, changes: number] }>`
    select finalize_batches(
      ${shardId}::integer, ${plainArray(batchIds)}::uuid[], ${failure}::text, ${changes}::integer
    ) as counts`.execute(db);
  return rows[0]!.counts;
}

/**
 * Leases up to `limit` overdue batches of a shard. Each lease of a batch is twice as long as the one before (5 s up to about
 * 5 min), so a backlog is not enqueued over and over. Two relays never get the same batch. Returns their ids.
 */
export async function leaseDueBatches(db: Database, shardId: number, limit: number): Promise<string[]> {
  const { rows } = await sql<{ ids: string[] }>`
    select lease_batches(${shardId}::integer, ${limit}::integer, '5 s'::interval) as ids`.execute(db);
  return rows[0]!.ids;
}

/** Returns the lease of batches that the queue refused: they are due again after `delayMs`, and the lease does not count. */
export async function returnLease(db: Database, { shardId, batchIds }: ShardBatches, delayMs: number) {
  await sql`
    update batches set relay_at = now() + make_interval(secs => ${delayMs / 1000}), enqueues = enqueues - 1
    where shard_id = ${shardId} and id = any(${batchIds}::uuid[]) and journal_offset is null`.execute(db);
}

/** Returns whether changes of a shard have waited for longer than a notification takes. */
export async function hasOverdueChanges(db: Database, shardId: number): Promise<boolean> {
  const { rows } = await sql`
    select from changes where shard_id = ${shardId} and at < now() - interval '1 s' limit 1`.execute(db);
  return rows.length > 0;
}

/** The outbox: pending batches and changes. The age of a redriven batch counts from its redrive. */
export interface Backlog extends QueueBacklog {
  /** Shards that do not answer; missing if all do. */
  shardsAway?: number[];
}

// The same condition as in its index.
const isPending = (shard: number) =>
  sql`shard_id = ${shard} and journal_offset is null and state = 'pending'`;

/** Returns the current backlog of the shards that answer. */
export async function readBacklog(db: Database): Promise<Backlog> {
  const { answers, away } = await askShards(await shardIds(db), async (shardId) => {
    const { rows } = await readShardBacklog(shardId).execute(db);
    return rows[0]!;
  });
  const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);
  const ages = answers.flatMap(({ oldestPendingMs }) => oldestPendingMs ?? []);
  return {
    pendingBatches: sum(answers.map(({ pendingBatches }) => pendingBatches)),
    pendingChanges: sum(answers.map(({ pendingChanges }) => pendingChanges)),
    failedBatches: sum(answers.map(({ failedBatches }) => failedBatches)),
    oldestPendingMs: ages.length === 0 ? null : Math.max(...ages),
    ...(away.length > 0 && { shardsAway: away }),
  };
}

const readShardBacklog = (shard: number) => sql<Backlog>`
  select
    (select count(*)::integer from batches where ${isPending(shard)}) as "pendingBatches",
    (select count(*)::integer from batches where shard_id = ${shard} and state = 'failed') as "failedBatches",
    (select count(*)::integer from changes where shard_id = ${shard}) as "pendingChanges",
    (extract(epoch from clock_timestamp() - least(
      (select min(pending_since) from batches where ${isPending(shard)}),
      (select min(at) from changes where shard_id = ${shard})
    )) * 1000)::float8 as "oldestPendingMs"`;
