/** What became of a submitted item: its own outcome, or why there is none. */
export type Submitted<Outcome> = Outcome | 'overloaded' | 'unknown';

export interface GroupCommitOptions<Item, Outcome> {
  /** Commits a group and answers one outcome per item, in order. Must settle by itself within reasonable time. */
  commit: (items: Item[]) => Promise<Submitted<Outcome>[]>;
  /** Items of one group at most. */
  groupLimit: number;
  /**
   * Items that may wait; past that, submitting answers `overloaded`. Fewer while groups take so long that the last of
   * them could not be answered in time.
   */
  waitingLimit: number;
  /** An item that is not committed after this is answered: `overloaded` while it waits, `unknown` in a group under way. */
  answerWithinMs: number;
  /**
   * Items with the same key never share a group. So they wait for as many groups as there are of them, and where
   * RIVALS_LIMIT of them wait already, submitting answers `overloaded`.
   */
  exclusiveKey: (item: Item) => string | null;
}

interface Waiting<Item, Outcome> {
  item: Item;
  /** Its exclusive key. */
  key: string | null;
  submittedAt: number;
  answer: (outcome: Submitted<Outcome>) => void;
}

const SWEEP_INTERVAL_MS = 50;
/** Overdue is who comes so near to it, because between two sweeps, and on the way out, time passes. */
const SWEEP_EARLY_MS = 2 * SWEEP_INTERVAL_MS;
/**
 * Of the time for an answer, what waiting may be expected to take. A queue longer than a burst needs gives nobody a seat
 * sooner, and has to be worked off when the overload is over: at half the load, in twice this time.
 */
const WAITING_SHARE = 1 / 8;
/**
 * The quickest of the last so many groups tells how long one takes. With fewer, hiccups of a busy machine make the room
 * small for a moment, and to refuse costs half of what a registration does: the machine gets busier by it.
 */
const GROUPS_MEASURED = 4;
/**
 * Answers given before the event loop may read again what has arrived meanwhile: a share of those that are due, so that
 * they keep up however much arrives in a turn, and at least a few.
 */
const SHARE_PER_TURN = 1 / 4;
const MIN_ANSWERS_PER_TURN = 16;

/**
 * Node reads tens of thousands of sockets, if that many have something to say, before anything else gets its turn. So
 * that those who are refused cannot keep those who are served from their answers, a turn also comes after so many.
 */
const REFUSALS_PER_TURN = 64;

/** What repeats itself more often than this would fill the waiting room, one group each, and keep everybody else out. */
const RIVALS_LIMIT = 16;

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
  /** How many of `#waiting` have this exclusive key. */
  readonly #rivals = new Map<string, number>();
  #underWay: Waiting<Item, Outcome>[] = [];
  #commit: Promise<void> | null = null;
  /** Committed, and to be answered in this order. */
  #decided: (() => void)[] = [];
  #turnIsDue = false;
  /** How many may wait now. */
  #room: number;
  /** How long each of the last groups took, the latest last. */
  #groupsMs = Array<number>(GROUPS_MEASURED).fill(0);
  #refusals = 0;
  readonly #sweeper: NodeJS.Timeout;

  constructor(options: GroupCommitOptions<Item, Outcome>) {
    this.#options = options;
    this.#room = options.waitingLimit;
    this.#sweeper = setInterval(() => this.#answerOverdue(), SWEEP_INTERVAL_MS).unref();
  }

  /** Whether an item that is submitted now would be taken. */
  hasRoom(): boolean {
    if (this.#waiting.length < this.#room) return true;
    this.#countRefusal();
    return false;
  }

  /** Resolves with the item's own outcome; never rejects. */
  submit(item: Item): Promise<Submitted<Outcome>> {
    const key = this.#options.exclusiveKey(item);
    if (!this.hasRoom() || !this.#joinRivals(key)) return Promise.resolve('overloaded');
    return new Promise((answer) => {
      this.#waiting.push({ item, key, submittedAt: performance.now(), answer });
      this.#scheduleTurn();
    });
  }

  /** Resolves when everything that was submitted is answered. */
  async drain(): Promise<void> {
    while (this.#commit || this.#turnIsDue) await (this.#commit ?? nextTurn());
    clearInterval(this.#sweeper);
  }

  #countRefusal(): void {
    this.#refusals += 1;
    if (this.#turnIsDue && this.#refusals % REFUSALS_PER_TURN === 0) this.#takeTurn();
  }

  #joinRivals(key: string | null): boolean {
    if (key === null) return true;
    const rivals = this.#rivals.get(key) ?? 0;
    if (rivals < RIVALS_LIMIT) this.#rivals.set(key, rivals + 1);
    else this.#countRefusal();
    return rivals < RIVALS_LIMIT;
  }

  #leaveRivals(key: string | null): void {
    if (key === null) return;
    const rivals = this.#rivals.get(key)! - 1;
    if (rivals > 0) this.#rivals.set(key, rivals);
    else this.#rivals.delete(key);
  }

  // In a turn of its own, so that what arrives in the same turn of the event loop rides together.
  #scheduleTurn(): void {
    if (this.#turnIsDue) return;
    this.#turnIsDue = true;
    setImmediate(() => {
      this.#turnIsDue = false;
      this.#takeTurn();
      if (this.#decided.length > 0) this.#scheduleTurn();
    });
  }

  #takeTurn(): void {
    const share = Math.ceil(this.#decided.length * SHARE_PER_TURN);
    for (const answer of this.#decided.splice(0, Math.max(share, MIN_ANSWERS_PER_TURN))) answer();
    this.#commitNextGroup();
  }

  #commitNextGroup(): void {
    const isDue = this.#waiting.length >= Math.min(this.#decided.length, this.#options.groupLimit);
    if (this.#commit || this.#waiting.length === 0 || !isDue) return;
    const group = (this.#underWay = this.#takeGroup());
    const leftAt = performance.now();
    const settle = (outcomes: Submitted<Outcome>[]) => {
      this.#measureRoom(performance.now() - leftAt);
      group.forEach(({ answer }, index) => this.#decided.push(() => answer(outcomes[index]!)));
      this.#underWay = [];
      this.#commit = null;
      this.#commitNextGroup();
      this.#scheduleTurn();
    };
    this.#commit = this.#options.commit(group.map(({ item }) => item)).then(settle);
  }

  /**
   * Little's law: who joins waits for as many groups as are ahead, so there is room for as many groups as can be
   * committed in time. Of the last few the quickest tells how long one takes: a hiccup is no overload.
   * There is always room for one group, or it could never be seen that things are better again.
   */
  #measureRoom(groupMs: number): void {
    const { groupLimit, waitingLimit, answerWithinMs } = this.#options;
    this.#groupsMs = [...this.#groupsMs.slice(1), groupMs];
    const groups = Math.floor((answerWithinMs * WAITING_SHARE) / Math.min(...this.#groupsMs));
    this.#room = Math.min(waitingLimit, groupLimit * Math.max(1, groups));
  }

  #takeGroup(): Waiting<Item, Outcome>[] {
    const { groupLimit } = this.#options;
    const keys = new Set<string>();
    const group: Waiting<Item, Outcome>[] = [];
    const left: Waiting<Item, Outcome>[] = [];
    for (const waiting of this.#waiting) {
      const { key } = waiting;
      if (group.length === groupLimit || (key !== null && keys.has(key))) {
        left.push(waiting);
      } else {
        if (key !== null) keys.add(key);
        this.#leaveRivals(key);
        group.push(waiting);
      }
    }
    this.#waiting = left;
    return group;
  }

  #answerOverdue(): void {
    const { answerWithinMs } = this.#options;
    const overdue = performance.now() - Math.max(answerWithinMs - SWEEP_EARLY_MS, answerWithinMs / 2);
    for (const { submittedAt, answer } of this.#underWay) if (submittedAt < overdue) answer('unknown');
    // Almost in order of arrival, so as a rule the first one tells that there is nothing to do.
    if (!this.#waiting[0] || this.#waiting[0].submittedAt >= overdue) return;
    this.#waiting = this.#waiting.filter(({ key, submittedAt, answer }) => {
      if (submittedAt >= overdue) return true;
      this.#leaveRivals(key);
      answer('overloaded');
      return false;
    });
  }
}
