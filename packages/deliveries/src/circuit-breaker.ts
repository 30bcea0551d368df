import { systemClock } from '@floodgate/service';
import type { Attempt } from './outcomes.ts';

const FIRST_MS = 500;
const LONGEST_MS = 60_000;
/** After this many refusals in a row, the server seems to refuse everything from this sender. */
const MAX_REFUSED_IN_A_ROW = 20;

/**
 * Whether the sender may be the cause of a refusal. Servers without enhanced codes answer "relay not
 * permitted" like "no such user".
 */
const isOfSender = (attempt: Attempt) =>
  attempt.kind === 'policy' || (attempt.kind === 'refused' && attempt.isPermanent);

/** Stops all sending for a while if the server accepts nothing. */
export interface CircuitBreaker {
  /** Milliseconds until messages may be sent; 0 if they may be sent now. */
  opensForMs(): number;
  /**
   * Whether the server has accepted nothing since the breaker last opened. Then one message at a time is
   * sent.
   */
  isProbing(): boolean;
  /** Counts an attempt. Opens the breaker if the server accepts nothing, each time for twice as long. */
  count(attempt: Attempt): void;
  /** Whether the server has refused so many messages in a row that the sender must be the cause. */
  refusesAll(): boolean;
  /** Whether a message was accepted after this moment, or ever. */
  hasAccepted(since?: number): boolean;
}

/** Returns a circuit breaker, which starts closed. */
export function createCircuitBreaker(clock = systemClock): CircuitBreaker {
  let opensUntil = -Infinity;
  let openings = 0;
  let acceptedAt = -Infinity;
  let refusedInARow = 0;
  const opensForMs = () => Math.max(0, opensUntil - clock.now());
  const refusesAll = () => refusedInARow >= MAX_REFUSED_IN_A_ROW;
  function open(): void {
    // Failures that arrive together open it once.
    if (opensForMs() > 0) return;
    const ms = Math.min(LONGEST_MS, FIRST_MS * 2 ** openings);
    openings += 1;
    // Jitter, so that processes that failed together do not retry together.
    opensUntil = clock.now() + ms * (0.75 + Math.random() / 2);
  }
  return {
    opensForMs,
    isProbing: () => openings > 0,
    count(attempt) {
      if (attempt.kind === 'unavailable') open();
      if (isOfSender(attempt)) refusedInARow += 1;
      if (isOfSender(attempt) && refusesAll()) open();
      if (attempt.kind !== 'sent') return;
      openings = 0;
      refusedInARow = 0;
      acceptedAt = clock.now();
    },
    refusesAll,
    hasAccepted: (since = -Infinity) => acceptedAt > since,
  };
}
