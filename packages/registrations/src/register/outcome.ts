import type { FailureCode } from '@floodgate/contract';

/**
 * `hold-limit`: the partner holds its share of the ticket already. `group-refused`: all or none was asked for, and another one was
 * refused.
 */
export type Refusal =
  'no-such-ticket' | 'not-on-sale' | 'sold-out' | 'duplicate' | 'hold-limit' | 'group-refused';

/** What became of one registration: the same word for it from the statement to the answer. */
export type SeatOutcome =
  /** The seat is committed. `replayed`: the first answer to its idempotency key, once more. */
  | { kind: 'registered'; serial: number; passCode: number; replayed: boolean }
  /** The attendee has this seat already. */
  | { kind: 'existing'; serial: number; passCode: number }
  | { kind: Refusal; replayed: boolean }
  /** Its idempotency key was used with another request. */
  | { kind: 'key-reused' }
  /** Another request with its idempotency key is not answered yet. */
  | { kind: 'in-progress' }
  /** Nothing was reserved: too many wait, or Postgres is away or busy. */
  | { kind: 'overloaded' }
  /** It may have been committed: Postgres does not answer any more. */
  | { kind: 'unknown' }
  /** Nothing was reserved, for a reason nobody foresaw. */
  | { kind: 'failed' }
  /** Under a test event: the attendee's address asks for this code. */
  | { kind: 'provoked'; code: FailureCode };

/** What became of what one call asked for: one registration, or a bulk call with an outcome for each, in order. */
export type Outcome = SeatOutcome | { kind: 'bulk'; outcomes: SeatOutcome[]; replayed: boolean };

/** What becomes of the ones of a bulk call that nothing is reserved for: others of their group were refused. */
export function refuseAll(requests: readonly unknown[]): Extract<Outcome, { kind: 'bulk' }> {
  const outcomes = requests.map((): SeatOutcome => ({ kind: 'group-refused', replayed: false }));
  return { kind: 'bulk', outcomes, replayed: false };
}

export const OVERLOADED: SeatOutcome = { kind: 'overloaded' };
export const UNKNOWN: SeatOutcome = { kind: 'unknown' };
export const FAILED: SeatOutcome = { kind: 'failed' };
