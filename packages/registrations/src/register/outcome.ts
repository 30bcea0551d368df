/** `hold-limit`: the partner holds its share of the ticket. `group-refused`: another one of an all-or-none call was refused. */
export type Refusal =
  'no-such-ticket' | 'not-on-sale' | 'sold-out' | 'duplicate' | 'hold-limit' | 'group-refused';

/** Outcome of one registration, from the SQL function to the response. */
export type SeatOutcome =
  /** The seat is committed. `replayed`: the idempotency key was answered before. */
  | { kind: 'registered'; serial: number; passCode: number; replayed: boolean }
  /** The attendee had this seat before. */
  | { kind: 'existing'; serial: number; passCode: number }
  | { kind: Refusal; replayed: boolean }
  /** The idempotency key was used with another request. */
  | { kind: 'key-reused' }
  /** Another request with the idempotency key is not answered yet. */
  | { kind: 'in-progress' }
  /** Nothing was reserved: the queue is full, or Postgres is down or busy. */
  | { kind: 'overloaded' }
  /** It may have been committed: Postgres stopped answering. */
  | { kind: 'unknown' }
  /** Nothing was reserved, for an unexpected reason. */
  | { kind: 'failed' };

/** Outcome of a call: of one registration, or of a bulk call with one for each registration, in order. */
export type Outcome = SeatOutcome | { kind: 'bulk'; outcomes: SeatOutcome[]; replayed: boolean };

/** Whether the call has reserved something now. */
export const isNew = (outcome: Outcome) =>
  (outcome.kind === 'registered' || outcome.kind === 'bulk') && !outcome.replayed;

export const OVERLOADED: SeatOutcome = { kind: 'overloaded' };
export const UNKNOWN: SeatOutcome = { kind: 'unknown' };
export const FAILED: SeatOutcome = { kind: 'failed' };
