import type { Attempt } from './outcome.ts';

/** Stops all sending for a while when the server accepts nothing. */
export interface CircuitBreaker {
  /** How long nothing is sent; 0: messages may be sent. */
  opensForMs(): number;
  /** Whether the server has accepted nothing since the breaker last opened: then one message at a time is tried. */
  isProbing(): boolean;
  /** Counts what the server answered. Opens, each time for twice as long, when the server accepts nothing. */
  hear(attempt: Attempt): void;
  /** Whether the server accepts messages while it refuses others by its policy. */
  acceptsOthers(): boolean;
  /** Whether a message was accepted within the last `ms`. */
  hasAcceptedWithin(ms: number): boolean;
}

const FIRST_MS = 500;
const LONGEST_MS = 60_000;
const MOST_DOUBLINGS = 10;
/** So many refusals in a row mean that the server refuses everything from this sender. */
const MOST_REFUSED_IN_A_ROW = 20;

/** Returns a breaker that lets messages through. */
export function createCircuitBreaker(now = () => performance.now()): CircuitBreaker {
  let opensUntil = -Infinity;
  let openings = 0;
  let acceptedAt = -Infinity;
  let refusedInARow = 0;
  const opensForMs = () => Math.max(0, opensUntil - now());
  function open(): void {
    // Answers that arrive together open it once.
    if (opensForMs() > 0) return;
    const ms = Math.min(LONGEST_MS, FIRST_MS * 2 ** openings);
    openings = Math.min(openings + 1, MOST_DOUBLINGS);
    // Jitter: processes that were refused together do not come back together.
    opensUntil = now() + ms * (0.75 + Math.random() / 2);
  }
  return {
    opensForMs,
    isProbing: () => openings > 0,
    hear({ kind }) {
      if (kind === 'unavailable') open();
      if (kind === 'policy' && ++refusedInARow >= MOST_REFUSED_IN_A_ROW) open();
      if (kind !== 'sent') return;
      openings = refusedInARow = 0;
      acceptedAt = now();
    },
    acceptsOthers: () => acceptedAt > -Infinity && refusedInARow < MOST_REFUSED_IN_A_ROW,
    hasAcceptedWithin: (ms) => now() - acceptedAt < ms,
  };
}
