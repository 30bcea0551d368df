import { systemClock } from '@floodgate/service/clock';
import { createSemaphore } from '@floodgate/service/semaphore';
import { batchLoader } from './batch-loader.ts';

/** Runs a read of a shard. Settles as `read` does, or rejects with the error of another read of the shard. */
export type ShardReads = <Value>(shardId: number, read: () => Promise<Value>) => Promise<Value>;

/** For a single Postgres: there are no other shards to protect. */
export const readAtOnce: ShardReads = (_shardId, read) => read();

/** A read that takes longer may be waiting for a server that does not answer. */
const PATIENCE_MS = 75;
/**
 * A read releases its permit after this time. It is later than PATIENCE_MS, so the next read already knows
 * that the shard is slow.
 */
const RELEASE_AFTER_MS = 100;

interface Shard {
  /** The read that takes too long, or the only read of the shard after such a read has failed. */
  pending: Promise<unknown> | null;
  /** A read that took too long has failed, and none has succeeded since. */
  isLost: boolean;
}

/**
 * Prevents shards whose server does not answer from using all connections. At most `limit` reads run
 * together. A read that takes too long no longer counts, so the pool must have more connections than the
 * limit. Further reads of its shard wait for it, without a connection, and fail with it. After a failure, one
 * read at a time tries the shard until one succeeds.
 */
export function createShardReads(limit: number, clock = systemClock): ShardReads {
  const withPermit = createSemaphore(limit, RELEASE_AFTER_MS, clock);
  const shards = new Map<number, Shard>();

  async function run<Value>(shard: Shard, read: () => Promise<Value>) {
    const reading = read();
    if (shard.isLost) shard.pending = reading;
    const timer = clock.setTimeout(() => void (shard.pending ??= reading), PATIENCE_MS);
    try {
      const value = await reading;
      shard.isLost = false;
      return { value };
    } catch (error) {
      if (shard.pending) shard.isLost = true;
      throw error;
    } finally {
      clock.clearTimeout(timer);
      if (shard.pending === reading) shard.pending = null;
    }
  }

  return async (shardId, read) => {
    const shard = shards.getOrInsertComputed(shardId, () => ({ pending: null, isLost: false }));
    for (;;) {
      if (shard.pending) await shard.pending;
      if (shard.isLost) return (await run(shard, read)).value;
      // The shard may have become slow during the wait for the permit. A read must not hold the permit while
      // it waits for the shard.
      const result = await withPermit(async () => (shard.pending ? null : run(shard, read)));
      if (result) return result.value;
    }
  };
}

/**
 * Returns a function that reads by key, with a batchLoader for each shard. A shard that does not answer does
 * not delay the others.
 */
export function shardLoader<Key extends { shardId: number }, Value>(
  shardReads: ShardReads,
  read: (keys: Key[]) => Promise<Value[]>,
) {
  const loaders = new Map<number, (key: Key) => Promise<Value>>();
  const createLoader = (shardId: number) =>
    batchLoader((keys: Key[]) => shardReads(shardId, () => read(keys)));
  return (key: Key) => loaders.getOrInsertComputed(key.shardId, createLoader)(key);
}
