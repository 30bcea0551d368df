/** Whether anything is sent at all. Closed for a while when the server takes nothing. */
export interface Gate {
  isOpen(): boolean;
  /** How long it stays closed. */
  opensInMs(): number;
  /** Closes it, each time for twice as long, until something goes through. Those who say so together, count once. */
  close(): void;
  /** Something went through. */
  pass(): void;
  /** How much went through so far. */
  passed(): number;
}

const FIRST_MS = 500;
const LONGEST_MS = 60_000;

/** Returns a gate that is open. */
export function createGate(now = () => performance.now()): Gate {
  let opensAt = -Infinity;
  let closings = 0;
  let passed = 0;
  const opensInMs = () => Math.max(0, opensAt - now());
  return {
    opensInMs,
    isOpen: () => opensInMs() === 0,
    close() {
      if (opensInMs() > 0) return;
      const ms = Math.min(LONGEST_MS, FIRST_MS * 2 ** closings);
      closings = Math.min(closings + 1, 10);
      // Processes that were turned away together do not come back together.
      opensAt = now() + ms * (0.75 + Math.random() / 2);
    },
    pass() {
      closings = 0;
      passed += 1;
    },
    passed: () => passed,
  };
}
