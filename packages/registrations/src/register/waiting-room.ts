import { Lanes, type Partner, type Waiting } from './lanes.ts';

export interface WaitingRoomOptions<Item> {
  /** Seats that one group may ask for. A larger item goes alone. */
  groupLimit: number;
  /** Seats that may be waited for. Fewer may while groups take so long that the last of them could not be answered in time. */
  waitingLimit: number;
  answerWithinMs: number;
  /** How many seats an item asks for. */
  seatsOf: (item: Item) => number;
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
/** How much more than there is room for may wait, when some fill the room and others ask for their share of it. */
const OVERFULL = 2;

/** Where items wait for their group: only as many as can be answered in time. Partners take turns. */
export function createWaitingRoom<Item, Outcome>(options: WaitingRoomOptions<Item>) {
  const { groupLimit, waitingLimit, answerWithinMs, seatsOf } = options;
  const lanes = new Lanes<Waiting<Item, Outcome>>(groupLimit);
  /** How many seats may be waited for now. */
  let room = waitingLimit;
  /** How long each of the last groups took, the latest last. */
  let groupsMs = Array<number>(GROUPS_MEASURED).fill(0);

  /**
   * Returns whether a partner may wait for so many seats. Where there is no room, those who fill it are refused: who waits for
   * less than their share of it comes in, and so does one item, however large, of who waits for nothing.
   */
  function hasRoom(partner: Partner, seats: number): boolean {
    if (lanes.seats + seats <= room) return true;
    const held = lanes.seatsOf(partner);
    if (held + seats <= lanes.shareOf(partner, room)) return lanes.seats < OVERFULL * waitingLimit;
    return held === 0 && lanes.seats < OVERFULL * room;
  }

  /** Lets an item wait. Returns false where there is no room. */
  function enter(item: Item, partner: Partner, answer: (outcome: Outcome) => void): boolean {
    const seats = seatsOf(item);
    if (!hasRoom(partner, seats)) return false;
    lanes.add(partner, { item, seats, submittedAt: performance.now(), answer });
    return true;
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

  return {
    /** How many items wait. */
    size: () => lanes.size,
    /** How many seats they ask for. */
    seats: () => lanes.seats,
    /** Whether as many are wanted as one group may ask for. */
    hasWholeGroup: () => lanes.seats >= groupLimit,
    hasRoom,
    enter,
    /** Takes the next group out. */
    takeGroup: () => lanes.takeGroup(),
    /** Takes out all that were submitted before this moment. */
    takeOverdue: (submittedBefore: number) => lanes.takeOverdue(submittedBefore),
    measure,
  };
}
