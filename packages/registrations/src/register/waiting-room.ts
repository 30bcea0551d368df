export interface WaitingRoomOptions<Item> {
  /** Seats that one group may ask for. A larger item goes alone. */
  groupLimit: number;
  /** Seats that may be waited for. Fewer may while groups take so long that the last of them could not be answered in time. */
  waitingLimit: number;
  answerWithinMs: number;
  /** How many seats an item asks for. */
  seatsOf: (item: Item) => number;
}

/** An item, and whom to tell what became of it. */
export interface Waiting<Item, Outcome> {
  item: Item;
  seats: number;
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

/** Where items wait for their group, in order of arrival: only as many as can be answered in time. */
export function createWaitingRoom<Item, Outcome>(options: WaitingRoomOptions<Item>) {
  const { groupLimit, waitingLimit, answerWithinMs, seatsOf } = options;
  let waiting: Waiting<Item, Outcome>[] = [];
  /** How many seats they ask for. */
  let seatsWanted = 0;
  /** How many may be waited for now. */
  let room = waitingLimit;
  /** How long each of the last groups took, the latest last. */
  let groupsMs = Array<number>(GROUPS_MEASURED).fill(0);

  const isFull = () => seatsWanted >= room;

  /** Lets an item wait. Returns false where there is no room. Only an empty room lets in what is larger than it. */
  function enter(item: Item, answer: (outcome: Outcome) => void): boolean {
    const seats = seatsOf(item);
    if (isFull() || (seatsWanted > 0 && seatsWanted + seats > room)) return false;
    seatsWanted += seats;
    waiting.push({ item, seats, submittedAt: performance.now(), answer });
    return true;
  }

  /** Takes the next group out. */
  function takeGroup(): Waiting<Item, Outcome>[] {
    let [taken, seats] = [0, 0];
    for (const one of waiting) {
      if (taken > 0 && seats + one.seats > groupLimit) break;
      taken += 1;
      seats += one.seats;
    }
    return takeFirst(taken);
  }

  /** Takes out all that were submitted before this moment. */
  function takeOverdue(submittedBefore: number): Waiting<Item, Outcome>[] {
    const firstInTime = waiting.findIndex(({ submittedAt }) => submittedAt >= submittedBefore);
    return takeFirst(firstInTime === -1 ? waiting.length : firstInTime);
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

  function takeFirst(count: number): Waiting<Item, Outcome>[] {
    if (count === 0) return [];
    const taken = waiting.slice(0, count);
    waiting = waiting.slice(count);
    for (const { seats } of taken) seatsWanted -= seats;
    return taken;
  }

  return {
    /** How many items wait. */
    size: () => waiting.length,
    isFull,
    /** Whether as many seats are wanted as one group may ask for. */
    hasWholeGroup: () => seatsWanted >= groupLimit,
    enter,
    takeGroup,
    takeOverdue,
    measure,
  };
}
