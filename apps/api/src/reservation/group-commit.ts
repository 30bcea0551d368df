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
/**
 * Answers given before the event loop may read again what has arrived meanwhile: a share of those that are due, so that
 * they keep up however much arrives in a turn, and at least a few.
 */
const SHARE_PER_TURN = 1 / 4;
const MIN_ANSWERS_PER_TURN = 16;

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/**
 * Commits items in groups, one group at a time. No timer holds anything back: what arrives in one turn of
 * the event loop and finds nothing to do goes at once, and the busier it gets, the larger the groups.
 *
 * Under load, answering takes as long as committing, and who was answered soon sends the next item. So the next group
 * leaves when as many items wait as there are still to be answered: Postgres works on one half while this process
 * answers the other. Leaving earlier makes small groups, which cost more; leaving after the last answer makes the two
 * wait for each other.
 */
export class GroupCommit<Item, Outcome> {
  readonly #options: GroupCommitOptions<Item, Outcome>;
  #waiting: Waiting<Item, Outcome>[] = [];
  #underWay: Waiting<Item, Outcome>[] = [];
  #commit: Promise<void> | null = null;
  /** Committed, and to be answered in this order. */
  #decided: (() => void)[] = [];
  #turnIsDue = false;
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
      this.#scheduleTurn();
    });
  }

  /** Resolves when everything that was submitted is answered. */
  async drain(): Promise<void> {
    while (this.#commit || this.#turnIsDue) await (this.#commit ?? nextTurn());
    clearInterval(this.#sweeper);
  }

  // In a turn of its own, so that what arrives in the same turn of the event loop rides together.
  #scheduleTurn(): void {
    if (this.#turnIsDue) return;
    this.#turnIsDue = true;
    setImmediate(() => {
      this.#turnIsDue = false;
      const share = Math.ceil(this.#decided.length * SHARE_PER_TURN);
      for (const answer of this.#decided.splice(0, Math.max(share, MIN_ANSWERS_PER_TURN))) answer();
      this.#commitNextGroup();
      if (this.#decided.length > 0) this.#scheduleTurn();
    });
  }

  #commitNextGroup(): void {
    const isDue = this.#waiting.length >= Math.min(this.#decided.length, this.#options.groupLimit);
    if (this.#commit || this.#waiting.length === 0 || !isDue) return;
    const group = (this.#underWay = this.#takeGroup());
    const settle = (outcomes: Submitted<Outcome>[]) => {
      group.forEach(({ answer }, index) => this.#decided.push(() => answer(outcomes[index]!)));
      this.#underWay = [];
      this.#commit = null;
      this.#commitNextGroup();
      this.#scheduleTurn();
    };
    this.#commit = this.#options.commit(group.map(({ item }) => item)).then(settle);
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
