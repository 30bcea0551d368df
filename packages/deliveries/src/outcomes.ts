import type { DeliveryState } from '@floodgate/database';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { Delivery } from './delivery-rows.ts';

// The next state of a delivery after an attempt: the arrows out of `sending` in delivery-rows.ts.

/** The result of an attempt to send a message. */
export type Attempt =
  | { kind: 'sent' }
  /** The server refused this message, permanently or temporarily. */
  | { kind: 'refused'; isPermanent: boolean; reason: string }
  /**
   * The server refused this message because of a policy or a limit. The cause may be this recipient or the
   * sender.
   */
  | { kind: 'policy'; reason: string }
  /**
   * The server seems to accept nothing. `isDoubtful`: it received the whole message, but its answer was lost.
   */
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

const MINUTE_MS = 60_000;
/** Delays between attempts. */
const RETRY_AFTER_MS = [1, 5, 15, 60, 3 * 60, 6 * 60, 12 * 60, 24 * 60].map((minutes) => minutes * MINUTE_MS);
/**
 * From this attempt on, a message whose answer was lost counts as sent if an earlier attempt may have
 * succeeded as well.
 */
const DOUBTFUL_ATTEMPTS = 3;

/** Puts a delivery back unchanged: there was no attempt, or the attempt says nothing about this delivery. */
export const putBack = ({ attempts }: Delivery, reason: string | null, dueInMs: number): Outcome => ({
  state: attempts === 0 ? 'queued' : 'retry',
  reason,
  dueInMs,
});

/**
 * Returns the outcome of a failed attempt that counts: `retry`, or `undeliverable` after the last attempt.
 */
export function failedAttempt({ attempts }: Delivery, reason: string): Outcome {
  const dueInMs = RETRY_AFTER_MS[attempts];
  const failed = { reason, attempts: attempts + 1 };
  return dueInMs ? { ...failed, state: 'retry', dueInMs } : { ...failed, state: 'undeliverable' };
}

/**
 * Returns the final outcome of a delivery whose process died in the last attempt; undefined if attempts are
 * left.
 */
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
    return isAboutThis ? failedAttempt(delivery, reason) : putBack(delivery, reason, breaker.opensForMs());
  if (attempts < DOUBTFUL_ATTEMPTS || !delivery.possiblyTwice)
    return { ...failedAttempt(delivery, reason), possiblyTwice: true };
  // The server has received the message more than once, so the recipient has it.
  return { state: 'sent', reason: `${reason} in attempt ${attempts}`, attempts, possiblyTwice: true };
}

function outcomeOfRefusal(delivery: Delivery, refusal: Refusal, breaker: CircuitBreaker): Outcome {
  const { kind, reason } = refusal;
  // A server that refuses many messages in a row refuses the sender, not the recipients.
  const refusesAll = breaker.refusesAll();
  if (kind === 'policy')
    return !refusesAll && breaker.hasAccepted()
      ? failedAttempt(delivery, reason)
      : putBack(delivery, reason, MINUTE_MS);
  if (refusesAll || !refusal.isPermanent) return failedAttempt(delivery, reason);
  return { state: 'undeliverable', reason, attempts: delivery.attempts + 1 };
}

/**
 * Whether the server has accepted other messages since it refused this one. Then this message is the cause,
 * whatever the server answers.
 */
const isAboutOne = ({ triedMsAgo, leasedAt }: Delivery, breaker: CircuitBreaker) =>
  triedMsAgo !== null && breaker.hasAccepted(leasedAt - triedMsAgo);
