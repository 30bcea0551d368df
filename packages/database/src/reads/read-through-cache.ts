import { systemClock } from '@floodgate/service/clock';
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
    // By default the cache reads the clock once per real millisecond. A test may advance its clock within
    // one.
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
