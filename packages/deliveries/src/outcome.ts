import type { DeliveryState } from '@floodgate/database';
import type { Delivery } from './deliveries.ts';

/** The result of an attempt to send a message. */
export type Attempt =
  | { kind: 'sent' }
  /** The server refused this message, permanently or temporarily. */
  | { kind: 'refused'; isPermanent: boolean; reason: string }
  /** The server refused this message because of a policy or a limit. The cause may be this recipient or the sender. */
  | { kind: 'policy'; reason: string }
  /** The server seems to accept nothing. `isDoubtful`: it received the whole message, but its answer was lost. */
  | { kind: 'unavailable'; isDoubtful: boolean; reason: string };

type Refusal = Extract<Attempt, { kind: 'refused' | 'policy' }>;

/** The next state of a delivery. Without `attempts`, the attempt does not count. */
export interface Outcome {
  state: Exclude<DeliveryState, 'sending'>;
  reason: string | null;
  attempts?: number;
  possiblyTwice?: boolean;
  /** Delay until it is due again, for `queued` and `retry`. */
  dueInMs?: number;
}

/** A message and the server's answer. */
export interface Sent<Message> {
  message: Message;
  attempt: Attempt;
  /** When the attempt ended, by the clock of `performance`. */
  triedAt: number;
}

/** An attempt that has ended and is not recorded yet. Without the fields of `Sent`, nothing was sent. */
export interface Ended<Message> extends Partial<Sent<Message>> {
  shardId: number;
  delivery: Delivery;
  outcome: Outcome;
}

const MINUTE_MS = 60_000;
/** Delays between attempts. */
const RETRY_AFTER_MS = [1, 5, 15, 60, 3 * 60, 6 * 60, 12 * 60, 24 * 60].map((minutes) => minutes * MINUTE_MS);
/** From this attempt on, a message whose answer was lost counts as sent if an earlier attempt may have succeeded as well. */
const DOUBTFUL_ATTEMPTS = 3;

/** Puts a delivery back unchanged: there was no attempt, or the attempt says nothing about this delivery. */
export const putBack = ({ attempts }: Delivery, reason: string | null, dueInMs: number): Outcome => ({
  state: attempts === 0 ? 'queued' : 'retry',
  reason,
  dueInMs,
});

/** Returns the outcome of a failed attempt that counts: `retry`, or `undeliverable` after the last attempt. */
export function retry({ attempts }: Delivery, reason: string): Outcome {
  const dueInMs = RETRY_AFTER_MS[attempts];
  const ended = { reason, attempts: attempts + 1 };
  return dueInMs ? { ...ended, state: 'retry', dueInMs } : { ...ended, state: 'undeliverable' };
}

/** Returns the final outcome of a delivery whose process died in the last attempt; undefined if attempts are left. */
export const outcomeOfCrashes = ({ attempts }: Delivery): Outcome | undefined =>
  attempts > RETRY_AFTER_MS.length ? { state: 'undeliverable', reason: 'process died', attempts } : undefined;

/** Returns the outcome of an attempt, and reports the attempt to the breaker. */
export function outcomeOf(delivery: Delivery, attempt: Attempt, breaker: CircuitBreaker): Outcome {
  const attempts = delivery.attempts + 1;
  // Evaluated before the breaker counts this attempt.
  const isAboutThis = isAboutOne(delivery, breaker);
  breaker.count(attempt);
  if (attempt.kind === 'sent') return { state: 'sent', reason: null, attempts };
  if (attempt.kind !== 'unavailable') return outcomeOfRefusal(delivery, attempt, breaker);
  const { reason } = attempt;
  if (!attempt.isDoubtful)
    return isAboutThis ? retry(delivery, reason) : putBack(delivery, reason, breaker.opensForMs());
  if (attempts < DOUBTFUL_ATTEMPTS || !delivery.possiblyTwice)
    return { ...retry(delivery, reason), possiblyTwice: true };
  // The server has received the message more than once, so the recipient has it.
  return { state: 'sent', reason: `${reason} in attempt ${attempts}`, attempts, possiblyTwice: true };
}

function outcomeOfRefusal(delivery: Delivery, refusal: Refusal, breaker: CircuitBreaker): Outcome {
  const { kind, reason } = refusal;
  // A server that refuses many messages in a row refuses the sender, not the recipients.
  const refusesAll = breaker.refusesAll();
  if (kind === 'policy')
    return !refusesAll && breaker.hasAcceptedWithin(Infinity)
      ? retry(delivery, reason)
      : putBack(delivery, reason, MINUTE_MS);
  if (refusesAll || !refusal.isPermanent) return retry(delivery, reason);
  return { state: 'undeliverable', reason, attempts: delivery.attempts + 1 };
}

/**
 * Whether the server has accepted other messages since it refused this one. Then this message is the cause, whatever the server answers.
 */
const isAboutOne = ({ triedMsAgo, leasedAt }: Delivery, breaker: CircuitBreaker) =>
  triedMsAgo !== null && breaker.hasAcceptedWithin(triedMsAgo + performance.now() - leasedAt);

const FIRST_MS = 500;
const LONGEST_MS = 60_000;
/** After this many refusals in a row, the server seems to refuse everything from this sender. */
const MOST_REFUSED_IN_A_ROW = 20;

/** Whether the sender may be the cause of a refusal. Servers without enhanced codes answer "relay not permitted" like "no such user". */
const isOfSender = (attempt: Attempt) =>
  attempt.kind === 'policy' || (attempt.kind === 'refused' && attempt.isPermanent);

export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>;

/** Returns a circuit breaker, which stops all sending for a while if the server accepts nothing. It starts closed. */
export function createCircuitBreaker() {
  let opensUntil = -Infinity;
  let openings = 0;
  let acceptedAt = -Infinity;
  let refusedInARow = 0;
  const opensForMs = () => Math.max(0, opensUntil - performance.now());
  function open(): void {
    // Failures that arrive together open it once.
    if (opensForMs() > 0) return;
    const ms = Math.min(LONGEST_MS, FIRST_MS * 2 ** openings++);
    // Jitter, so that processes that failed together do not retry together.
    opensUntil = performance.now() + ms * (0.75 + Math.random() / 2);
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
      acceptedAt = performance.now();
    },
    /** Whether the server has refused so many messages in a row that the sender must be the cause. */
    refusesAll: () => refusedInARow >= MOST_REFUSED_IN_A_ROW,
    /** Whether a message was accepted within the last `ms`. */
    hasAcceptedWithin: (ms: number) => performance.now() - acceptedAt < ms,
  };
}
