import { LRUCache } from 'lru-cache';

const MAX_AGE_MS = 1_000;
const MAX_ENTRIES = 10_000;

/**
 * Returns a cache that keeps what was read for a second from the moment at which the reading began: a value was true a
 * second ago, however long Postgres took. What `read` knows to be older it can have counted from an earlier moment. `get`
 * returns what is at hand. `forceFetch` reads what is not, once for all who wait, and rejects as `read` does.
 */
export function readThroughCache<Key extends number | string, Value extends {}, Context = unknown>(
  read: (key: Key, context: Context, countFrom: (moment: number) => void) => Promise<Value>,
): LRUCache<Key, Value, Context> {
  return new LRUCache<Key, Value, Context>({
    max: MAX_ENTRIES,
    ttl: MAX_AGE_MS,
    // An entry that is pushed out while it is being read must still reach whoever waits for it.
    ignoreFetchAbort: true,
    fetchMethod: async (key, _, { context, options }) => {
      let asOf = performance.now();
      const value = await read(key, context, (moment) => (asOf = moment));
      options.ttl = Math.max(1, MAX_AGE_MS - (performance.now() - asOf));
      return value;
    },
  });
}
