/**
 * Share of the answer time that waiting may take. A queue longer than a burst needs gives nobody a seat sooner, and it has to be
 * worked off after the overload: at half the load, in twice this time.
 */
const WAITING_SHARE = 1 / 8;
/**
 * The fastest of this many groups tells how long a group takes. With fewer, hiccups of a busy machine shrink the queue for a
 * moment. A refusal costs half of what a registration costs, so the machine gets even busier.
 */
const GROUPS_MEASURED = 4;
/** Weight of the groups before, per group: about the last ten count. */
const KEPT = 0.9;
/** Assumed duration of a full group before one was measured. */
const USUAL_GROUP_MS = 50;

export interface PaceOptions {
  /** Units of one group. */
  groupLimit: number;
  /** Units that may wait. Fewer may wait while groups take so long that the last unit could not be answered in time. */
  waitingLimit: number;
  answerWithinMs: number;
}

/** Measures groups. Tells how much may wait, and how long what waits will take. */
export function createPace({ groupLimit, waitingLimit, answerWithinMs }: PaceOptions) {
  let lastMs = Array<number>(GROUPS_MEASURED).fill(0);
  let capacity = waitingLimit;
  let units = groupLimit;
  let tookMs = USUAL_GROUP_MS;
  return {
    measure(committedUnits: number, groupMs: number): void {
      units = KEPT * units + committedUnits;
      tookMs = KEPT * tookMs + groupMs;
      lastMs = [...lastMs.slice(1), groupMs];
      // At least one group: otherwise nobody would notice that commits are fast again.
      const groups = Math.max(1, Math.floor((answerWithinMs * WAITING_SHARE) / Math.min(...lastMs)));
      capacity = Math.min(waitingLimit, groupLimit * groups);
    },
    /** Units that may wait now. By Little's law, a new item waits for the groups ahead of it. */
    capacity: () => capacity,
    /** Seconds until `wanted` units are committed. A group in flight counts with its time so far, because it may be stuck. */
    secondsFor: (wanted: number, inFlightMs: number) =>
      wanted === 0 ? 0 : (wanted * (tookMs + inFlightMs)) / (1_000 * units),
  };
}
