import { QueueFull } from '@floodgate/service/fair-queue';

/** Keys in one statement at most, so that it takes a few milliseconds. */
const BATCH_LIMIT = 500;
/** Past this, reads are refused: more could not be read in time from a Postgres that is slow. */
const WAITING_LIMIT = 10_000;

// One instance for all: capturing a stack for each refusal would help a caller that sends too much.
const TOO_MANY_READS = new QueueFull('too many reads are waiting');

type Waiting<Key, Value> = PromiseWithResolvers<Value> & { key: Key };

/**
 * Reads by key, one statement at a time. What is asked for meanwhile is read together by the next statement. So a caller
 * that makes up keys by the thousands keeps one connection busy, and leaves the others to everybody else.
 */
export class BatchLoader<Key, Value> {
  readonly #read: (keys: Key[]) => Promise<Value[]>;
  #waiting: Waiting<Key, Value>[] = [];
  #isReading = false;

  /** `read` resolves to one value per key, in order. It must settle by itself within reasonable time. */
  constructor(read: (keys: Key[]) => Promise<Value[]>) {
    this.#read = read;
  }

  /** Resolves to the key's value. Rejects with QueueFull, or as the statement does. */
  read(key: Key): Promise<Value> {
    if (this.#waiting.length === WAITING_LIMIT) return Promise.reject(TOO_MANY_READS);
    const waiting = { key, ...Promise.withResolvers<Value>() };
    this.#waiting.push(waiting);
    if (!this.#isReading) void this.#readAll();
    return waiting.promise;
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    while (this.#waiting.length > 0) await this.#readBatch(this.#waiting.splice(0, BATCH_LIMIT));
    this.#isReading = false;
  }

  async #readBatch(batch: Waiting<Key, Value>[]): Promise<void> {
    const read = () => this.#read(batch.map(({ key }) => key));
    try {
      // Repeated once: a lost connection, or none in time, says little about the next one.
      const values = await read().catch(read);
      batch.forEach(({ resolve }, index) => resolve(values[index]!));
    } catch (error) {
      // Postgres is away. Those that wait behind would find out too late to be answered in time.
      for (const { reject } of [...batch, ...this.#waiting.splice(0)]) reject(error);
    }
  }
}
