import { createSemaphore } from '@floodgate/service/semaphore';
import { batchLoader } from './shared-reads.ts';

/** Reads what belongs to a shard. Settles as `read` does, or rejects as another read of the shard does. */
export type ShardReads = <Value>(shardId: number, read: () => Promise<Value>) => Promise<Value>;

/** For one Postgres: there are no other shards to protect. */
export const readAtOnce: ShardReads = (_shardId, read) => read();

/** A read that takes longer may be waiting for a server that does not answer. */
const PATIENCE_MS = 75;
/** Then it frees its permit. This is later than PATIENCE_MS, so that the next read already knows that the shard is slow. */
const RELEASE_AFTER_MS = 100;

interface Shard {
  /** The read that takes too long, or the only one since such a read has failed. */
  pending: Promise<unknown> | null;
  /** A read that took too long has failed, and none has succeeded since. */
  isLost: boolean;
}

/**
 * Keeps shards whose server does not answer from taking the connections of the others. At most `limit` reads run
 * at once. A read that takes too long is no longer counted, so the pool must have more connections than the limit. Further reads of
 * its shard wait for it, without a connection, and fail with it. After a failure, one read at a time tries the shard until one
 * succeeds.
 */
export function createShardReads(limit: number): ShardReads {
  const withPermit = createSemaphore(limit, RELEASE_AFTER_MS);
  const shards = new Map<number, Shard>();

  async function run<Value>(shard: Shard, read: () => Promise<Value>): Promise<{ value: Value }> {
    const reading = read();
    if (shard.isLost) shard.pending = reading;
    const timer = setTimeout(() => void (shard.pending ??= reading), PATIENCE_MS);
    try {
      const value = await reading;
      shard.isLost = false;
      return { value };
    } catch (error) {
      if (shard.pending) shard.isLost = true;
      throw error;
    } finally {
      clearTimeout(timer);
      if (shard.pending === reading) shard.pending = null;
    }
  }

  return async (shardId, read) => {
    const shard = shards.get(shardId) ?? { pending: null, isLost: false };
    shards.set(shardId, shard);
    for (;;) {
      if (shard.pending) await shard.pending;
      if (shard.isLost) return (await run(shard, read)).value;
      // The shard may have become slow during the wait for the permit. The read must not wait for it with a permit.
      const done = await withPermit(async () => (shard.pending ? null : run(shard, read)));
      if (done) return done.value;
    }
  };
}

/** Returns what reads by key with a batchLoader for each shard: one that does not answer makes no other wait. */
export function shardLoader<Key extends { shardId: number }, Value>(
  shardReads: ShardReads,
  read: (keys: Key[]) => Promise<Value[]>,
): (key: Key) => Promise<Value> {
  const loaders = new Map<number, (key: Key) => Promise<Value>>();
  return (key) => {
    const { shardId } = key;
    const load = loaders.get(shardId) ?? batchLoader((keys) => shardReads(shardId, () => read(keys)));
    loaders.set(shardId, load);
    return load(key);
  };
}
