import { systemClock } from '@floodgate/service/clock';
import { QueueFull } from '@floodgate/service/fair-queue';
import { LRUCache } from 'lru-cache';

/**
 * Returns a cache that keeps a value for `maxAgeMs`, by default a second, from the start of its read. So a
 * cached value is never older, however long Postgres took. `get` returns a cached value. `forceFetch` also
 * reads a missing one, once for all callers that wait, and rejects as `read` does.
 */
export function readThroughCache<Key extends number | string, Value extends {}, Context = unknown>(
  read: (key: Key, context: Context) => Promise<Value>,
  maxAgeMs = 1_000,
  clock = systemClock,
) {
  return new LRUCache<Key, Value, Context>({
    max: 10_000,
    ttl: maxAgeMs,
    perf: clock,
    // By default the cache reads the clock once per real millisecond. A test may advance its clock within one.
    ttlResolution: clock === systemClock ? 1 : 0,
    // A value that is evicted during its read must still reach the callers that wait for it.
    ignoreFetchAbort: true,
    fetchMethod: async (key, _, { context, options }) => {
      const startedAt = clock.now();
      const value = await read(key, context);
      options.ttl = Math.max(1, maxAgeMs - (clock.now() - startedAt));
      return value;
    },
  });
}

/** Limit of the keys in one statement, so that it takes a few milliseconds. */
const BATCH_LIMIT = 500;
/** Limit of waiting reads. A slow Postgres could not answer more of them in time. */
const WAITING_LIMIT = 10_000;

// One instance for all: a stack trace for each refusal would make an overload worse.
const TOO_MANY_READS = new QueueFull('too many reads are waiting');

/**
 * Returns a function that reads by key, one statement at a time. The next statement reads all keys that were
 * requested during this one. So a caller that invents keys by the thousands keeps one connection busy and
 * leaves the others free. Rejects with QueueFull, or as the statement does.
 *
 * `read` resolves to one value per key, in order. It must have its own timeout.
 */
export function batchLoader<Key, Value>(read: (keys: Key[]) => Promise<Value[]>) {
  const waiting: (PromiseWithResolvers<Value> & { key: Key })[] = [];
  let isReading = false;

  async function readAll() {
    isReading = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH_LIMIT);
      const readBatch = () => read(batch.map(({ key }) => key));
      try {
        // Retried once: a lost connection, or a connection timeout, often does not affect the next
        // connection.
        const values = await readBatch().catch(readBatch);
        batch.forEach(({ resolve }, index) => resolve(values[index]!));
      } catch (error) {
        // Postgres is down. The waiting reads fail now, because after another timeout their answers would be
        // too late.
        for (const { reject } of [...batch, ...waiting.splice(0)]) reject(error);
      }
    }
    isReading = false;
  }

  return (key: Key) => {
    if (waiting.length === WAITING_LIMIT) return Promise.reject(TOO_MANY_READS);
    const entry = { key, ...Promise.withResolvers<Value>() };
    waiting.push(entry);
    if (!isReading) void readAll();
    return entry.promise;
  };
}
