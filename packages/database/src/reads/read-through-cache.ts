import { LRUCache } from 'lru-cache';

const MAX_AGE_MS = 1_000;
const MAX_ENTRIES = 10_000;

/**
 * Returns a cache that keeps a value for a second from the moment at which its reading began: a value was true a second ago,
 * however long Postgres took. `get` returns what is cached. `forceFetch` reads what is not, once for all callers that wait, and
 * rejects as `read` does.
 */
export function readThroughCache<Key extends number | string, Value extends {}, Context = unknown>(
  read: (key: Key, context: Context) => Promise<Value>,
): LRUCache<Key, Value, Context> {
  return new LRUCache<Key, Value, Context>({
    max: MAX_ENTRIES,
    ttl: MAX_AGE_MS,
    // An entry that is evicted while it is read must still reach the callers that wait for it.
    ignoreFetchAbort: true,
    fetchMethod: async (key, _, { context, options }) => {
      const startedAt = performance.now();
      const value = await read(key, context);
      options.ttl = Math.max(1, MAX_AGE_MS - (performance.now() - startedAt));
      return value;
    },
  });
}
