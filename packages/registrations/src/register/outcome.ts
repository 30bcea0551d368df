export type Refusal = 'no-such-ticket' | 'not-on-sale' | 'sold-out' | 'duplicate';

/** What became of one reservation: the same word for it from the statement to the answer. */
export type Outcome =
  /** The seat is committed. `replayed`: the first answer to its idempotency key, once more. */
  | { kind: 'registered'; serial: number; passCode: number; replayed: boolean }
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
  | { kind: 'failed' };

export const OVERLOADED: Outcome = { kind: 'overloaded' };
export const UNKNOWN: Outcome = { kind: 'unknown' };
export const FAILED: Outcome = { kind: 'failed' };
