import type { DeliveryState } from '@floodgate/database';
import type { CircuitBreaker } from './circuit-breaker.ts';
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

/** The next state of a delivery. Without `attempts`, the attempt did not count. */
export interface Outcome {
  state: Exclude<DeliveryState, 'sending'>;
  reason: string | null;
  attempts?: number;
  possiblyTwice?: boolean;
  /** When it is due again, for queued and retry. */
  dueInMs?: number;
}

const MINUTE_MS = 60_000;
/** Delays between attempts. */
const RETRY_AFTER_MS = [1, 5, 15, 60, 3 * 60, 6 * 60, 12 * 60, 24 * 60].map((minutes) => minutes * MINUTE_MS);
/** A message whose acceptance is never confirmed is handed over this often. */
const MOST_HANDED_OVER = 3;

/** Puts a delivery back as it was: nothing was attempted, or the attempt says nothing about this delivery. */
export const putBack = ({ attempts }: Delivery, reason: string | null, dueInMs = 0): Outcome => ({
  state: attempts === 0 ? 'queued' : 'retry',
  reason,
  dueInMs,
});

/** Returns the outcome of an attempt, and tells the breaker about it. `leasedAt`: by the clock of `performance`. */
export function outcomeOf(
  delivery: Delivery & { leasedAt: number },
  attempt: Attempt,
  breaker: CircuitBreaker,
): Outcome {
  const attempts = delivery.attempts + 1;
  // Before the breaker hears of this attempt.
  const isAboutThis = isAboutOne(delivery, breaker);
  breaker.hear(attempt);
  if (attempt.kind === 'sent') return { state: 'sent', reason: null, attempts };
  const { reason } = attempt;
  if (attempt.kind === 'unavailable') return outcomeWithoutServer(delivery, attempt, breaker, isAboutThis);
  if (attempt.kind === 'policy' && !breaker.acceptsOthers()) return putBack(delivery, reason, MINUTE_MS);
  if (attempt.kind === 'refused' && attempt.isPermanent) return { state: 'undeliverable', reason, attempts };
  return retry(delivery, reason);
}

/** Whether the server accepted other messages since it refused this one: then the cause is this one, whatever the server says. */
const isAboutOne = ({ triedMsAgo, leasedAt }: Delivery & { leasedAt: number }, breaker: CircuitBreaker) =>
  triedMsAgo !== null && breaker.hasAcceptedWithin(triedMsAgo + performance.now() - leasedAt);

function outcomeWithoutServer(
  delivery: Delivery,
  { isDoubtful, reason }: Extract<Attempt, { kind: 'unavailable' }>,
  breaker: CircuitBreaker,
  isAboutThis: boolean,
): Outcome {
  if (!isDoubtful)
    return isAboutThis ? retry(delivery, reason) : putBack(delivery, reason, breaker.opensForMs());
  const attempts = delivery.attempts + 1;
  if (attempts < MOST_HANDED_OVER) return { ...retry(delivery, reason), possiblyTwice: true };
  // The server has received it several times: the recipient has it.
  return { state: 'sent', reason: `${reason}, ${attempts} times`, attempts, possiblyTwice: true };
}

/** Returns when the next attempt is made after one that counts; undeliverable after the last. */
export function retry(delivery: Delivery, reason: string): Outcome {
  const attempts = delivery.attempts + 1;
  const dueInMs = RETRY_AFTER_MS[delivery.attempts];
  if (dueInMs === undefined) return { state: 'undeliverable', reason, attempts };
  return { state: 'retry', reason, attempts, dueInMs };
}
