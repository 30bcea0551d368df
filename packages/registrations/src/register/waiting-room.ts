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
export function createWaitingRoom<Item, Outcome>(options: WaitingRoomOptions<Item>) {
  const { groupLimit, waitingLimit, answerWithinMs, exclusiveKey } = options;
  let waiting: Waiting<Item, Outcome>[] = [];
  /** How many of them have this exclusive key. */
  const sameKey = new Map<string, number>();
  /** How many may wait now. */
  let room = waitingLimit;
  /** How long each of the last groups took, the latest last. */
  let groupsMs = Array<number>(GROUPS_MEASURED).fill(0);

  const isFull = () => waiting.length >= room;

  /** Lets an item wait. Returns false where there is no room, or too many wait with its key. */
  function enter(item: Item, answer: (outcome: Outcome) => void): boolean {
    const key = exclusiveKey(item);
    const alike = key === null ? 0 : (sameKey.get(key) ?? 0);
    if (isFull() || alike >= SAME_KEY_LIMIT) return false;
    if (key !== null) sameKey.set(key, alike + 1);
    waiting.push({ item, key, submittedAt: performance.now(), answer });
    return true;
  }

  /** Takes the next group out, in order of arrival. Those whose key is in it already stay. */
  function takeGroup(): Waiting<Item, Outcome>[] {
    const keys = new Set<string>();
    return takeOut(({ key }, taken) => {
      if (taken === groupLimit || (key !== null && keys.has(key))) return false;
      if (key !== null) keys.add(key);
      return true;
    });
  }

  /** Takes out all that were submitted before this moment. */
  function takeOverdue(submittedBefore: number): Waiting<Item, Outcome>[] {
    // Almost in order of arrival, so as a rule the first one tells that there is nothing to do.
    if (!waiting[0] || waiting[0].submittedAt >= submittedBefore) return [];
    return takeOut(({ submittedAt }) => submittedAt < submittedBefore);
  }

  /**
   * Learns how long a group took. By Little's law, who joins waits for as many groups as are ahead: there is room for as
   * many as can be committed in time. There is always room for one group, or nobody would see that things are better again.
   */
  function measure(groupMs: number): void {
    groupsMs = [...groupsMs.slice(1), groupMs];
    const groups = Math.floor((answerWithinMs * WAITING_SHARE) / Math.min(...groupsMs));
    room = Math.min(waitingLimit, groupLimit * Math.max(1, groups));
  }

  function takeOut(isTaken: (one: Waiting<Item, Outcome>, taken: number) => boolean) {
    const taken: Waiting<Item, Outcome>[] = [];
    const left: Waiting<Item, Outcome>[] = [];
    for (const one of waiting) (isTaken(one, taken.length) ? taken : left).push(one);
    waiting = left;
    for (const { key } of taken) if (key !== null) leaveSameKey(key);
    return taken;
  }

  function leaveSameKey(key: string): void {
    const others = sameKey.get(key)! - 1;
    if (others > 0) sameKey.set(key, others);
    else sameKey.delete(key);
  }

  return { size: () => waiting.length, isFull, enter, takeGroup, takeOverdue, measure };
}
