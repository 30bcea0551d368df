import { QueueFull } from '@floodgate/service/fair-queue';
import { LRUCache } from 'lru-cache';

const MAX_AGE_MS = 1_000;
const MAX_ENTRIES = 10_000;

/**
 * Returns a cache that keeps a value for a second from the moment at which its reading began: a value was true a second ago,
 * however long Postgres took; or for `maxAgeMs`. `get` returns what is cached. `forceFetch` reads what is not, once for all callers that wait, and
 * rejects as `read` does.
 */
export function readThroughCache<Key extends number | string, Value extends {}, Context = unknown>(
  read: (key: Key, context: Context) => Promise<Value>,
  maxAgeMs = MAX_AGE_MS,
): LRUCache<Key, Value, Context> {
  return new LRUCache<Key, Value, Context>({
    max: MAX_ENTRIES,
    ttl: maxAgeMs,
    // An entry that is evicted while it is read must still reach the callers that wait for it.
    ignoreFetchAbort: true,
    fetchMethod: async (key, _, { context, options }) => {
      const startedAt = performance.now();
      const value = await read(key, context);
      options.ttl = Math.max(1, maxAgeMs - (performance.now() - startedAt));
      return value;
    },
  });
}

/** Keys in one statement at most, so that it takes a few milliseconds. */
const BATCH_LIMIT = 500;
/** Past this, reads are refused: more could not be read in time from a Postgres that is slow. */
const WAITING_LIMIT = 10_000;

// One instance for all: capturing a stack for each refusal would help a caller that sends too much.
const TOO_MANY_READS = new QueueFull('too many reads are waiting');

/**
 * Returns a function that reads by key, one statement at a time. The next statement reads all keys that came meanwhile. So a
 * caller that makes up keys by the thousands keeps one connection busy, and leaves the others to everybody else. Rejects with
 * QueueFull, or as the statement does.
 *
 * `read` resolves to one value per key, in order. It must settle by itself within reasonable time.
 */
export function batchLoader<Key, Value>(read: (keys: Key[]) => Promise<Value[]>) {
  const waiting: (PromiseWithResolvers<Value> & { key: Key })[] = [];
  let isReading = false;

  async function readAll(): Promise<void> {
    isReading = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH_LIMIT);
      const readBatch = () => read(batch.map(({ key }) => key));
      try {
        // Repeated once: a lost connection, or none in time, says little about the next one.
        const values = await readBatch().catch(readBatch);
        batch.forEach(({ resolve }, index) => resolve(values[index]!));
      } catch (error) {
        // Postgres is away. Those that wait behind would find out too late to be answered in time.
        for (const { reject } of [...batch, ...waiting.splice(0)]) reject(error);
      }
    }
    isReading = false;
  }

  return (key: Key): Promise<Value> => {
    if (waiting.length === WAITING_LIMIT) return Promise.reject(TOO_MANY_READS);
    const entry = { key, ...Promise.withResolvers<Value>() };
    waiting.push(entry);
    if (!isReading) void readAll();
    return entry.promise;
  };
}
