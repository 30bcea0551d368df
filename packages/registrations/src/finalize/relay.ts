import { sql } from 'kysely';
import { inEachShard, type Database } from '@floodgate/database';
import type { JobResult } from '@floodgate/queue';
import type { ShardBatches } from './finalize-batches.ts';

/** Batches per pass: no more than one statement can write into the journal in time. */
const LEASE_LIMIT = 100;

interface Dependencies {
  db: Database;
  /** Returns the ids of the shards; by default they are read. */
  shards?: () => Promise<number[]>;
  enqueue: (batches: ShardBatches) => Promise<void>;
  /** Finalizes batches as their job would. */
  finalize: (batches: ShardBatches) => Promise<JobResult>;
}

/**
 * One round of the outbox relay. Finalizes overdue batches and changes: the queue was away when they committed or lost their job, or
 * the process that was to enqueue it died. If that fails, a job repeats it, and its last attempt fails the batch. Returns `more` if
 * there may be more of them. A shard that does not answer does not delay the others.
 */
export const relayDueBatches = ({ db, shards, enqueue, finalize }: Dependencies) =>
  inEachShard(
    db,
    async (shardId) => {
      const batches = { shardId, batchIds: await leaseDueBatches(db, shardId, LEASE_LIMIT) };
      if (batches.batchIds.length === 0) {
        // Without a job: one per round would pile up while no worker takes them.
        if (await hasOverdueChanges(db, shardId)) await finalize(batches);
        return false;
      }
      const result = await finalize(batches).catch(() => null);
      // Failed, or the shard is busy with another job.
      if (result !== 'done') await enqueue(batches);
      return result === 'done' && batches.batchIds.length === LEASE_LIMIT;
    },
    shards,
  );

/**
 * Leases up to `limit` overdue batches of a shard. Each lease of a batch is twice as long as the one before (5 s up to about
 * 5 min), so a backlog is not finalized over and over. Two relays never get the same batch. Returns their ids.
 */
export async function leaseDueBatches(db: Database, shardId: number, limit: number): Promise<string[]> {
  // In seconds: Citus refuses an update that adds an interval to a time.
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
async function hasOverdueChanges(db: Database, shardId: number): Promise<boolean> {
  const { rows } = await sql`
    select from changes where shard_id = ${shardId} and at < now() - interval '1 s' limit 1`.execute(db);
  return rows.length > 0;
}
