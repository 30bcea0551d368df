/** Too many wait for the same kind of read; nothing was asked. */
export class TooManyReads extends Error {
  override name = 'TooManyReads';
}

/** Keys of one read at most: a statement of a few milliseconds. */
const GROUP_LIMIT = 500;
/** Past this, reading is refused. It takes more than is ever read in time from a Postgres that is slow. */
const WAITING_LIMIT = 10_000;

// One for all: whoever sends too much shall not have a stack written down for each.
const TOO_MANY_READS = new TooManyReads('too many reads are waiting');

interface Waiting<Key, Value> {
  key: Key;
  resolve: (value: Value) => void;
  reject: (error: unknown) => void;
}

/**
 * Reads by key, one statement at a time: who asks meanwhile rides together in the next. So whoever makes up keys by the
 * thousands has one connection busy and no more, and the others wait for a statement or two, not for a queue.
 */
export class GroupRead<Key, Value> {
  readonly #read: (keys: Key[]) => Promise<Value[]>;
  #waiting: Waiting<Key, Value>[] = [];
  #isReading = false;

  /** `read` returns one value per key, in order. It must settle by itself within reasonable time. */
  constructor(read: (keys: Key[]) => Promise<Value[]>) {
    this.#read = read;
  }

  /** Returns the key's value. Rejects with TooManyReads, or as the statement does. */
  read(key: Key): Promise<Value> {
    if (this.#waiting.length === WAITING_LIMIT) return Promise.reject(TOO_MANY_READS);
    const { promise, resolve, reject } = Promise.withResolvers<Value>();
    this.#waiting.push({ key, resolve, reject });
    if (!this.#isReading) void this.#readAll();
    return promise;
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    while (this.#waiting.length > 0) await this.#readGroup(this.#waiting.splice(0, GROUP_LIMIT));
    this.#isReading = false;
  }

  async #readGroup(group: Waiting<Key, Value>[]): Promise<void> {
    const read = () => this.#read(group.map(({ key }) => key));
    try {
      // Once more: that a connection was lost, or none was to be had in time, says little about the next one.
      const values = await read().catch(read);
      group.forEach(({ resolve }, index) => resolve(values[index]!));
    } catch (error) {
      // Postgres is away: whoever waits behind them would find that out too late to be answered in time.
      for (const { reject } of [...group, ...this.#waiting.splice(0)]) reject(error);
    }
  }
}
