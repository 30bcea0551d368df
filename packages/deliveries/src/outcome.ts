import type { DeliveryState } from '@floodgate/database';
import type { Delivery } from './deliveries.ts';

/** The result of an attempt to send a message. */
export type Attempt =
  | { kind: 'sent' }
  /** The server refused this message, for good or for now. */
  | { kind: 'refused'; isPermanent: boolean; reason: string }
  /** The server refused this message by a policy or a limit. The cause may be this recipient, or the sender. */
  | { kind: 'policy'; reason: string }
  /** The server seems to accept nothing. `isDoubtful`: it had received the whole message, and its answer was lost. */
  | { kind: 'unavailable'; isDoubtful: boolean; reason: string };

type Refusal = Extract<Attempt, { kind: 'refused' | 'policy' }>;

/** The next state of a delivery. Without `attempts`, the attempt did not count. */
export interface Outcome {
  state: Exclude<DeliveryState, 'sending'>;
  reason: string | null;
  attempts?: number;
  possiblyTwice?: boolean;
  /** When it is due again, for queued and retry. */
  dueInMs?: number;
}

/** An attempt that has ended and is not recorded yet. */
export interface Ended<Message> {
  delivery: Delivery;
  outcome: Outcome;
  /** The message and the server's answer; missing if nothing was sent. */
  message?: Message;
  attempt?: Attempt;
  /** When the attempt ended, by the clock of `performance`. */
  triedAt?: number;
}

const MINUTE_MS = 60_000;
/** Delays between attempts. */
const RETRY_AFTER_MS = [1, 5, 15, 60, 3 * 60, 6 * 60, 12 * 60, 24 * 60].map((minutes) => minutes * MINUTE_MS);
/** From this attempt on, a message that was handed over before and is handed over again without an answer counts as sent. */
const DOUBTFUL_ATTEMPTS = 3;

/** Puts a delivery back as it was: nothing was attempted, or the attempt says nothing about this delivery. */
export const putBack = ({ attempts }: Delivery, reason: string | null, dueInMs = 0): Outcome => ({
  state: attempts === 0 ? 'queued' : 'retry',
  reason,
  dueInMs,
});

/** Returns when the next attempt is made after one that counts; undeliverable after the last. */
export function retry({ attempts }: Delivery, reason: string): Outcome {
  const dueInMs = RETRY_AFTER_MS[attempts];
  if (dueInMs === undefined) return { state: 'undeliverable', reason, attempts: attempts + 1 };
  return { state: 'retry', reason, attempts: attempts + 1, dueInMs };
}

/** Returns the end of a delivery whose process died in every attempt; undefined while it may be tried again. */
export const outcomeOfCrashes = ({ attempts }: Delivery): Outcome | undefined =>
  attempts > RETRY_AFTER_MS.length ? { state: 'undeliverable', reason: 'process died', attempts } : undefined;

/** Returns the outcome of an attempt, and tells the breaker about it. */
export function outcomeOf(delivery: Delivery, attempt: Attempt, breaker: CircuitBreaker): Outcome {
  const attempts = delivery.attempts + 1;
  // Before the breaker hears of this attempt.
  const isAboutThis = isAboutOne(delivery, breaker);
  breaker.hear(attempt);
  if (attempt.kind === 'sent') return { state: 'sent', reason: null, attempts };
  if (attempt.kind !== 'unavailable') return outcomeOfRefusal(delivery, attempt, breaker);
  const { reason } = attempt;
  if (!attempt.isDoubtful)
    return isAboutThis ? retry(delivery, reason) : putBack(delivery, reason, breaker.opensForMs());
  if (attempts < DOUBTFUL_ATTEMPTS || !delivery.possiblyTwice)
    return { ...retry(delivery, reason), possiblyTwice: true };
  // The server has received it more than once: the recipient has it.
  return { state: 'sent', reason: `${reason} in attempt ${attempts}`, attempts, possiblyTwice: true };
}

function outcomeOfRefusal(delivery: Delivery, refusal: Refusal, breaker: CircuitBreaker): Outcome {
  const { kind, reason } = refusal;
  if (kind === 'policy')
    return breaker.acceptsOthers() ? retry(delivery, reason) : putBack(delivery, reason, MINUTE_MS);
  // A server that refuses everybody in a row refuses the sender, not the recipients.
  if (!refusal.isPermanent || breaker.refusesAll()) return retry(delivery, reason);
  return { state: 'undeliverable', reason, attempts: delivery.attempts + 1 };
}

/** Whether the server accepted other messages since it refused this one: then the cause is this one, whatever the server says. */
const isAboutOne = ({ triedMsAgo, leasedAt }: Delivery, breaker: CircuitBreaker) =>
  triedMsAgo !== null && breaker.hasAcceptedWithin(triedMsAgo + performance.now() - leasedAt);

const FIRST_MS = 500;
const LONGEST_MS = 60_000;
const MOST_DOUBLINGS = 10;
/** So many refusals in a row mean that the server refuses everything from this sender. */
const MOST_REFUSED_IN_A_ROW = 20;

/** Whether the cause of a refusal may be the sender. Servers without enhanced codes answer "relay not permitted" like "no such user". */
const isOfSender = (attempt: Attempt) =>
  attempt.kind === 'policy' || (attempt.kind === 'refused' && attempt.isPermanent);

export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>;

/** Returns what stops all sending for a while when the server accepts nothing. At first it lets messages through. */
export function createCircuitBreaker() {
  let opensUntil = -Infinity;
  let openings = 0;
  let acceptedAt = -Infinity;
  let refusedInARow = 0;
  const opensForMs = () => Math.max(0, opensUntil - performance.now());
  function open(): void {
    // Answers that arrive together open it once.
    if (opensForMs() > 0) return;
    const ms = Math.min(LONGEST_MS, FIRST_MS * 2 ** openings);
    openings = Math.min(openings + 1, MOST_DOUBLINGS);
    // Jitter: processes that were refused together do not come back together.
    opensUntil = performance.now() + ms * (0.75 + Math.random() / 2);
  }
  return {
    /** How long nothing is sent; 0: messages may be sent. */
    opensForMs,
    /** Whether the server has accepted nothing since the breaker last opened: then one message at a time is tried. */
    isProbing: () => openings > 0,
    /** Counts what the server answered. Opens, each time for twice as long, when the server accepts nothing. */
    hear(attempt: Attempt): void {
      if (attempt.kind === 'unavailable') open();
      if (isOfSender(attempt) && ++refusedInARow >= MOST_REFUSED_IN_A_ROW) open();
      if (attempt.kind !== 'sent') return;
      openings = refusedInARow = 0;
      acceptedAt = performance.now();
    },
    /** Whether the server accepts messages while it refuses others by its policy. */
    acceptsOthers: () => acceptedAt > -Infinity && refusedInARow < MOST_REFUSED_IN_A_ROW,
    /** Whether the server has refused so many messages for good, one after the other, that the cause must be the sender. */
    refusesAll: () => refusedInARow >= MOST_REFUSED_IN_A_ROW,
    /** Whether a message was accepted within the last `ms`. */
    hasAcceptedWithin: (ms: number) => performance.now() - acceptedAt < ms,
  };
}
