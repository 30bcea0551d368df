import type { RegistrationRequest } from '@floodgate/contract';

/** One validated request for a seat: the attendee's fields, the partner and the ticket. */
export interface Reservation extends Required<Omit<RegistrationRequest, 'organizedEventTicketID'>> {
  shardId: number;
  partnerId: number;
  eventId: number;
  ticketId: number;
  /** Ten random digits, drawn by the caller. */
  passCode: number;
  /** UUID-sized digest of the attendee's e-mail address, or of address and ticket; null for events that allow duplicates. */
  attendeeDigest: string | null;
  /** Whether a duplicate gets the attendee's existing seat, if it is this partner's. */
  returnsExisting: boolean;
  /** How long the seat is held unless it is confirmed; null: it is not held. */
  holdSeconds: number | null;
  idempotency: Idempotency | null;
}

export interface Idempotency {
  key: string;
  /** UUID-sized digest of the request. */
  fingerprint: string;
}

/** The registrations of one call: at least one, all of one partner and event. */
export interface BulkReservation {
  readonly reservations: readonly Reservation[];
  /** All of them or none. */
  readonly isAll: boolean;
  /** Of the whole call. */
  readonly idempotency: Idempotency | null;
}

/** What one call submits. It is never divided. */
export type Submission = Reservation | BulkReservation;

export const isBulk = (submission: Submission): submission is BulkReservation => 'reservations' in submission;

export const seatsOf = (submission: Submission) => (isBulk(submission) ? submission.reservations.length : 1);

/** Returns the reservations of all submissions, in order. */
export function reservationsOf(submissions: readonly Submission[]): readonly Reservation[] {
  if (!submissions.some(isBulk)) return submissions as readonly Reservation[];
  return submissions.flatMap((submission) => (isBulk(submission) ? submission.reservations : [submission]));
}

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
  /**
   * `key-reused`: the idempotency key was used with another request. `in-progress`: another request with the key is not answered
   * yet. `overloaded`: nothing was reserved, because the queue is full, or Postgres is down or busy. `unknown`: it may have been
   * committed, because Postgres stopped answering. `failed`: nothing was reserved, for an unexpected reason.
   */
  | { kind: 'key-reused' | 'in-progress' | 'overloaded' | 'unknown' | 'failed' };

/** Outcome of a call: of one registration, or of a bulk call with one for each registration, in order. */
export type Outcome = SeatOutcome | { kind: 'bulk'; outcomes: SeatOutcome[]; replayed: boolean };

/** Whether the call has reserved a seat now. */
export const isNew = (outcome: Outcome): boolean =>
  outcome.kind === 'bulk'
    ? !outcome.replayed && outcome.outcomes.some(isNew)
    : outcome.kind === 'registered' && !outcome.replayed;

export const OVERLOADED: SeatOutcome = { kind: 'overloaded' };
