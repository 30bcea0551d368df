/** What became of a submitted item: its own outcome, or why there is none. */
export type Submitted<Outcome> = Outcome | 'overloaded' | 'unknown';

export interface GroupCommitOptions<Item, Outcome> {
  /** Commits a group and answers one outcome per item, in order. Must settle by itself within reasonable time. */
  commit: (items: Item[]) => Promise<Submitted<Outcome>[]>;
  /** Items of one group at most. */
  groupLimit: number;
  /** Items that may wait; past that, submitting answers `overloaded`. */
  waitingLimit: number;
  /** An item that is not committed after this is answered: `overloaded` while it waits, `unknown` in a group under way. */
  answerWithinMs: number;
  /** Items with the same key never share a group. */
  exclusiveKey: (item: Item) => string | null;
}

interface Waiting<Item, Outcome> {
  item: Item;
  submittedAt: number;
  answer: (outcome: Submitted<Outcome>) => void;
}

const SWEEP_INTERVAL_MS = 50;

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/**
 * Commits items in groups, one group at a time. An item that finds nothing under way goes at once; those that
 * arrive meanwhile share the next group. No timer holds anything back: alone, an item pays no delay, and the
 * busier it gets, the larger the groups.
 */
export class GroupCommit<Item, Outcome> {
  readonly #options: GroupCommitOptions<Item, Outcome>;
  #waiting: Waiting<Item, Outcome>[] = [];
  #underWay: Waiting<Item, Outcome>[] = [];
  #running: Promise<void> | null = null;
  readonly #sweeper: NodeJS.Timeout;

  constructor(options: GroupCommitOptions<Item, Outcome>) {
    this.#options = options;
    this.#sweeper = setInterval(() => this.#answerOverdue(), SWEEP_INTERVAL_MS).unref();
  }

  /** Resolves with the item's own outcome; never rejects. */
  submit(item: Item): Promise<Submitted<Outcome>> {
    if (this.#waiting.length >= this.#options.waitingLimit) return Promise.resolve('overloaded');
    return new Promise((answer) => {
      this.#waiting.push({ item, submittedAt: performance.now(), answer });
      this.#running ??= this.#run();
    });
  }

  /** Resolves when everything that was submitted is answered. */
  async drain(): Promise<void> {
    while (this.#running) await this.#running;
    clearInterval(this.#sweeper);
  }

  async #run(): Promise<void> {
    do {
      // Requests that arrive in the same turn of the event loop ride together.
      await nextTurn();
      await this.#commitWaiting();
    } while (this.#waiting.length > 0);
    this.#running = null;
  }

  async #commitWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = (this.#underWay = this.#takeGroup());
      const outcomes = await this.#options.commit(group.map(({ item }) => item));
      // Answering a group takes about as long as committing one. In a later turn, so that the next group is on
      // its way to Postgres first and the two overlap.
      setImmediate(() => group.forEach(({ answer }, index) => answer(outcomes[index]!)));
      this.#underWay = [];
    }
    // The last group's answers, too.
    await nextTurn();
  }

  #takeGroup(): Waiting<Item, Outcome>[] {
    const { groupLimit, exclusiveKey } = this.#options;
    const keys = new Set<string>();
    const group: Waiting<Item, Outcome>[] = [];
    const left: Waiting<Item, Outcome>[] = [];
    for (const waiting of this.#waiting) {
      const key = exclusiveKey(waiting.item);
      if (group.length === groupLimit || (key !== null && keys.has(key))) {
        left.push(waiting);
      } else {
        if (key !== null) keys.add(key);
        group.push(waiting);
      }
    }
    this.#waiting = left;
    return group;
  }

  #answerOverdue(): void {
    const overdue = performance.now() - this.#options.answerWithinMs;
    for (const { submittedAt, answer } of this.#underWay) if (submittedAt < overdue) answer('unknown');
    // Almost in order of arrival, so as a rule the first one tells that there is nothing to do.
    if (!this.#waiting[0] || this.#waiting[0].submittedAt >= overdue) return;
    this.#waiting = this.#waiting.filter(({ submittedAt, answer }) => {
      if (submittedAt >= overdue) return true;
      answer('overloaded');
      return false;
    });
  }
}
