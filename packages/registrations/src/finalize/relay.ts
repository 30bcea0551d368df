import { sql } from 'kysely';
import { inEachShard, type Database } from '@floodgate/database';
import type { JobResult } from '@floodgate/queue';
import type { ShardBatches } from './queue-notifier.ts';

/** Batches per pass. One statement must be able to write them into the journal within its timeout. */
const LEASE_LIMIT = 100;

interface Dependencies {
  db: Database;
  /** Returns the ids of the shards. By default they are read from Postgres. */
  shards?: () => Promise<number[]>;
  enqueue: (batches: ShardBatches) => Promise<void>;
  /** Finalizes batches as their job would. */
  finalize: (batches: ShardBatches) => Promise<JobResult>;
}

/**
 * Runs one round of the outbox relay: finalizes overdue batches and changes. Either the queue was down when
 * they committed, or it lost their job, or the API died before it enqueued one. If finalization fails, a job
 * retries it, and the last attempt of the job fails the batch. Returns `more` if more may be overdue. A shard
 * that does not answer does not stop the others.
 */
export const relayDueBatches = ({ db, shards, enqueue, finalize }: Dependencies) =>
  inEachShard(
    db,
    async (shardId) => {
      const batches = { shardId, batchIds: await leaseDueBatches(db, shardId, LEASE_LIMIT) };
      if (batches.batchIds.length === 0) {
        // No job is enqueued: one per round would pile up while no worker runs.
        if (await hasOverdueChanges(db, shardId)) await finalize(batches);
        return false;
      }
      const result = await finalize(batches).catch(() => null);
      // Finalization failed, or another job of the shard is running.
      if (result !== 'done') await enqueue(batches);
      return result === 'done' && batches.batchIds.length === LEASE_LIMIT;
    },
    shards,
  );

/**
 * Leases up to `limit` overdue batches of a shard. Each lease of a batch is twice as long as the one before
 * (5 s up to about 5 min), so a backlog is not finalized over and over. Two relays never get the same batch.
 * Returns their ids.
 */
export async function leaseDueBatches(db: Database, shardId: number, limit: number) {
  // In seconds, because Citus rejects an update that adds an interval to a time.
  const { rows } = await sql<{ id: string }>`
    update batches
    set enqueues = enqueues + 1, relay_at = to_timestamp(extract(epoch from now()) + 5 * 2 ^ least(enqueues, 6))
    where shard_id = ${shardId} and id = any(array(
      select id from batches
      where shard_id = ${shardId} and journal_offset is null and state in ('pending', 'confirmed') and relay_at <= now()
      order by relay_at limit ${limit} for update skip locked
    ))
    returning id`.execute(db);
  return rows.map(({ id }) => id);
}

/** Returns whether changes of a shard have waited for longer than a notification takes. */
async function hasOverdueChanges(db: Database, shardId: number) {
  const { rows } = await sql`
    select from changes where shard_id = ${shardId} and at < now() - interval '1 s' limit 1`.execute(db);
  return rows.length > 0;
}
