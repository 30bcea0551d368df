import { QueueFull } from '@floodgate/service/fair-queue';

/** Limit of the keys in one statement, so that it takes a few milliseconds. */
const BATCH_LIMIT = 500;
/** Limit of waiting reads. A slow Postgres could not answer more of them in time. */
const WAITING_LIMIT = 10_000;

// One instance for all: a stack trace for each refusal would make an overload worse.
const TOO_MANY_READS = new QueueFull('too many reads are waiting');

/**
 * Returns a function that reads by key, one statement at a time. The next statement reads all keys that were
 * requested during this one. So a caller that invents keys by the thousands keeps one connection busy and
 * leaves the others free. Rejects with QueueFull if more than `waitingLimit` keys wait, or as the statement
 * does.
 *
 * `read` resolves to one value per key, in order. It must have its own timeout.
 */
export function batchLoader<Key, Value>(
  read: (keys: Key[]) => Promise<Value[]>,
  { waitingLimit = WAITING_LIMIT } = {},
) {
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
    if (waiting.length >= waitingLimit) return Promise.reject(TOO_MANY_READS);
    const entry = { key, ...Promise.withResolvers<Value>() };
    waiting.push(entry);
    if (!isReading) void readAll();
    return entry.promise;
  };
}
