export interface WaitingRoomOptions<Item> {
  groupLimit: number;
  /** Items that may wait. Fewer may while groups take so long that the last of them could not be answered in time. */
  waitingLimit: number;
  answerWithinMs: number;
  /** Items with the same key never share a group, so they wait for as many groups as there are of them. */
  exclusiveKey: (item: Item) => string | null;
}

/** An item, and whom to tell what became of it. */
export interface Waiting<Item, Outcome> {
  item: Item;
  key: string | null;
  submittedAt: number;
  answer: (outcome: Outcome) => void;
}

/**
 * Of the time for an answer, what waiting may be expected to take. A queue longer than a burst needs gives nobody a seat
 * sooner, and has to be worked off when the overload is over: at half the load, in twice this time.
 */
const WAITING_SHARE = 1 / 8;
/**
 * The quickest of the last so many groups tells how long one takes. With fewer, hiccups of a busy machine make the room
 * small for a moment. To refuse costs half of what a registration does, so the machine gets busier by it.
 */
const GROUPS_MEASURED = 4;
/** Items with the same key that may wait. More would fill the room, one group each, and keep everybody else out. */
const SAME_KEY_LIMIT = 16;

/** Where items wait for their group: only as many as can be answered in time. */
export class WaitingRoom<Item, Outcome> {
  readonly #options: WaitingRoomOptions<Item>;
  #waiting: Waiting<Item, Outcome>[] = [];
  /** How many of them have this exclusive key. */
  readonly #sameKey = new Map<string, number>();
  #room: number;
  /** How long each of the last groups took, the latest last. */
  #groupsMs = Array<number>(GROUPS_MEASURED).fill(0);

  constructor(options: WaitingRoomOptions<Item>) {
    this.#options = options;
    this.#room = options.waitingLimit;
  }

  get size(): number {
    return this.#waiting.length;
  }

  get isFull(): boolean {
    return this.#waiting.length >= this.#room;
  }

  /** Lets an item wait. Returns false where there is no room, or too many wait with its key. */
  enter(item: Item, answer: (outcome: Outcome) => void): boolean {
    const key = this.#options.exclusiveKey(item);
    const alike = key === null ? 0 : (this.#sameKey.get(key) ?? 0);
    if (this.isFull || alike >= SAME_KEY_LIMIT) return false;
    if (key !== null) this.#sameKey.set(key, alike + 1);
    this.#waiting.push({ item, key, submittedAt: performance.now(), answer });
    return true;
  }

  /** Takes the next group out, in order of arrival. Those whose key is in it already stay. */
  takeGroup(): Waiting<Item, Outcome>[] {
    const { groupLimit } = this.#options;
    const keys = new Set<string>();
    return this.#takeOut(({ key }, taken) => {
      if (taken === groupLimit || (key !== null && keys.has(key))) return false;
      if (key !== null) keys.add(key);
      return true;
    });
  }

  /** Takes out all that were submitted before this moment. */
  takeOverdue(submittedBefore: number): Waiting<Item, Outcome>[] {
    // Almost in order of arrival, so as a rule the first one tells that there is nothing to do.
    if (!this.#waiting[0] || this.#waiting[0].submittedAt >= submittedBefore) return [];
    return this.#takeOut(({ submittedAt }) => submittedAt < submittedBefore);
  }

  /**
   * Learns how long a group took. By Little's law, who joins waits for as many groups as are ahead: there is room for as
   * many as can be committed in time. There is always room for one group, or nobody would see that things are better again.
   */
  measure(groupMs: number): void {
    const { groupLimit, waitingLimit, answerWithinMs } = this.#options;
    this.#groupsMs = [...this.#groupsMs.slice(1), groupMs];
    const groups = Math.floor((answerWithinMs * WAITING_SHARE) / Math.min(...this.#groupsMs));
    this.#room = Math.min(waitingLimit, groupLimit * Math.max(1, groups));
  }

  #takeOut(isTaken: (waiting: Waiting<Item, Outcome>, taken: number) => boolean): Waiting<Item, Outcome>[] {
    const taken: Waiting<Item, Outcome>[] = [];
    const left: Waiting<Item, Outcome>[] = [];
    for (const waiting of this.#waiting) (isTaken(waiting, taken.length) ? taken : left).push(waiting);
    this.#waiting = left;
    for (const { key } of taken) this.#leaveSameKey(key);
    return taken;
  }

  #leaveSameKey(key: string | null): void {
    if (key === null) return;
    const others = this.#sameKey.get(key)! - 1;
    if (others > 0) this.#sameKey.set(key, others);
    else this.#sameKey.delete(key);
  }
}
