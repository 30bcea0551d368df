import type { Database } from '@floodgate/database';
import { sql } from 'kysely';

/** The ages of the oldest work for finalization in a shard. Null: none waits. */
export interface Waiting {
  /** Batches: partners are registering now. */
  batchesMs: number | null;
  /** Changes, such as those of the job itself. */
  changesMs: number | null;
}

/** Reads two indexes. Both have few rows unless finalization is behind. */
export async function readWaiting(db: Database, shardId: number): Promise<Waiting> {
  const { rows } = await sql<Waiting>`
    select
      (extract(epoch from clock_timestamp() - (
        select min(pending_since) from batches
        where shard_id = ${shardId} and journal_offset is null and state = 'pending'
      )) * 1000)::float8 as "batchesMs",
      (extract(epoch from clock_timestamp() - (
        select at from changes where shard_id = ${shardId} order by id limit 1
      )) * 1000)::float8 as "changesMs"`.execute(db);
  return rows[0]!;
}

/** From this age on, finalization is behind. */
const BEHIND_MS = 2_000;
const WHEN_BEHIND_MS = 1_000;
const LONGEST_MS = 500;
/** While partners register, a job uses a quarter of the time that it could. */
const BESIDE_SALES = 3;

/**
 * Returns how long a job waits after a batch: as long as the batch took, three times as long while partners
 * register in the shard, and a second while finalization is behind.
 */
export function pauseAfter(tookMs: number, { batchesMs, changesMs }: Waiting) {
  if (Math.max(batchesMs ?? 0, changesMs ?? 0) > BEHIND_MS) return WHEN_BEHIND_MS;
  return Math.min(LONGEST_MS, batchesMs === null ? tookMs : BESIDE_SALES * tookMs);
}

/** Locks are held for about so long. The limit is 50 ms, and a machine can be busy. */
const TARGET_MS = 20;
export const FIRST_SIZE = 50;
const MOST = 1_000;
/** A smaller batch takes hardly less time, so a busy machine must not make batches ever smaller. */
const LEAST = 20;
/** A batch is at most so much larger than the one before. */
const GROWTH = 2;

/** Returns the size of the next batch, by how long Postgres worked on the last one. */
export const nextSize = (size: number, tookMs: number) =>
  Math.min(MOST, GROWTH * size, Math.max(LEAST, Math.round((size * TARGET_MS) / Math.max(tookMs, 1))));
