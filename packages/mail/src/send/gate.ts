import type { Attempt } from './transport.ts';

/** Whether anything is sent at all. Closed for a while when the server takes nothing. */
export interface Gate {
  isOpen(): boolean;
  /** How long it stays closed. */
  opensInMs(): number;
  /** Takes note of what the server said. Closes, each time for twice as long, where it takes nothing, until it takes an e-mail. */
  hear(attempt: Attempt): void;
  /** Whether the server takes e-mails while it refuses some by its policy. */
  takesOthers(): boolean;
  /** How much went through so far. */
  passed(): number;
}

const FIRST_MS = 500;
const LONGEST_MS = 60_000;
/** So many refusals in a row mean that the server refuses everything that we send. */
const MOST_REFUSED_IN_A_ROW = 20;

/** Returns a gate that is open. */
export function createGate(now = () => performance.now()): Gate {
  let opensAt = -Infinity;
  let closings = 0;
  let passed = 0;
  let refusedInARow = 0;
  const opensInMs = () => Math.max(0, opensAt - now());
  // Answers that come together close it once.
  function close(): void {
    if (opensInMs() > 0) return;
    const ms = Math.min(LONGEST_MS, FIRST_MS * 2 ** closings);
    closings = Math.min(closings + 1, 10);
    // Processes that were turned away together do not come back together.
    opensAt = now() + ms * (0.75 + Math.random() / 2);
  }
  return {
    opensInMs,
    isOpen: () => opensInMs() === 0,
    hear({ kind }) {
      if (kind === 'unavailable') close();
      if (kind === 'policy' && ++refusedInARow >= MOST_REFUSED_IN_A_ROW) close();
      if (kind !== 'sent') return;
      closings = refusedInARow = 0;
      passed += 1;
    },
    takesOthers: () => passed > 0 && refusedInARow < MOST_REFUSED_IN_A_ROW,
    passed: () => passed,
  };
}
