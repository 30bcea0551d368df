/** Of what was measured before, what counts beside another group: so the last ten or so tell. */
const KEPT = 0.9;
/** How long a full group is thought to take before one was measured. */
const USUAL_GROUP_MS = 50;

/** Measures how many seats are committed in a second while somebody waits for them. */
export function createDrainRate(groupLimit: number) {
  let seats = groupLimit;
  let tookMs = USUAL_GROUP_MS;
  return {
    /** Learns how many seats a group committed, and how long it took. */
    measure(committed: number, groupMs: number): void {
      seats = KEPT * seats + committed;
      tookMs = KEPT * tookMs + groupMs;
    },

    /** Seconds until so many seats are committed. The group under way has taken `underWayMs` so far: one that is stuck counts. */
    secondsFor(wanted: number, underWayMs: number): number {
      return wanted === 0 ? 0 : (wanted * (tookMs + underWayMs)) / (1_000 * seats);
    },
  };
}
