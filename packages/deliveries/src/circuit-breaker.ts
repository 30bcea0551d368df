import { systemClock } from '@floodgate/service';
import type { Attempt } from './deliveries.ts';

const FIRST_MS = 500;
const LONGEST_MS = 60_000;
/** After this many refusals in a row, the server seems to refuse everything from this sender. */
const MOST_REFUSED_IN_A_ROW = 20;

/** Whether the sender may be the cause of a refusal. Servers without enhanced codes answer "relay not permitted" like "no such user". */
const isOfSender = (attempt: Attempt) =>
  attempt.kind === 'policy' || (attempt.kind === 'refused' && attempt.isPermanent);

export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>;

/** Returns a circuit breaker, which stops all sending for a while if the server accepts nothing. It starts closed. */
export function createCircuitBreaker(clock = systemClock) {
  let opensUntil = -Infinity;
  let openings = 0;
  let acceptedAt = -Infinity;
  let refusedInARow = 0;
  const opensForMs = () => Math.max(0, opensUntil - clock.now());
  function open(): void {
    // Failures that arrive together open it once.
    if (opensForMs() > 0) return;
    const ms = Math.min(LONGEST_MS, FIRST_MS * 2 ** openings++);
    // Jitter, so that processes that failed together do not retry together.
    opensUntil = clock.now() + ms * (0.75 + Math.random() / 2);
  }
  return {
    /** Milliseconds until messages may be sent; 0 if they may be sent now. */
    opensForMs,
    /** Whether the server has accepted nothing since the breaker last opened. Then one message at a time is sent. */
    isProbing: () => openings > 0,
    /** Counts an attempt. Opens the breaker if the server accepts nothing, each time for twice as long. */
    count(attempt: Attempt): void {
      if (attempt.kind === 'unavailable') open();
      if (isOfSender(attempt) && ++refusedInARow >= MOST_REFUSED_IN_A_ROW) open();
      if (attempt.kind !== 'sent') return;
      openings = refusedInARow = 0;
      acceptedAt = clock.now();
    },
    /** Whether the server has refused so many messages in a row that the sender must be the cause. */
    refusesAll: () => refusedInARow >= MOST_REFUSED_IN_A_ROW,
    /** Whether a message was accepted after this moment, or ever. */
    hasAccepted: (since = -Infinity) => acceptedAt > since,
  };
}
