import {
  COMMON_FAILURES,
  failure,
  formatPassReference,
  RESPONSE_CODES,
  success,
  type FailureCode,
  type RegistrationRequest,
} from '@floodgate/contract';
import type { Principal } from '@floodgate/http';
import { openSeats, type FoundHold } from './holds/find-holds.ts';
import type { RegistrationRow } from './status/find-registrations.ts';

// The answers to partners: outcome → response code → message, for registrations, bulk calls, holds and
// changes.

/**
 * The response code of each reason why a registration got no seat. `allocation-sold`: the partner sold all
 * that it may. `group-refused`: another registration of an all-or-none call was refused. `hold-limit`: the
 * partner holds its share of the ticket. `key-reused`: the idempotency key was used with another request.
 * `in-progress`: another request with the key is not answered yet. `overloaded`: nothing was reserved,
 * because the queue is full, or Postgres is down or busy. `unknown`: it may have been committed, because
 * Postgres stopped answering. `failed`: nothing was reserved, for an unexpected reason.
 */
const SEAT_CODES = {
  'no-such-ticket': '30',
  'not-on-sale': '31',
  'sold-out': '32',
  'allocation-sold': '32',
  duplicate: '33',
  'group-refused': '36',
  'hold-limit': '37',
  'key-reused': '40',
  'in-progress': '41',
  overloaded: '90',
  unknown: '91',
  failed: '99',
} as const satisfies Record<string, FailureCode>;

/**
 * The response code of each further reason why nothing was changed. `missing`: there is no such registration
 * or hold. `admitted`: the seat has let in a person. `replaced`: another attendee has the seat.
 */
const CHANGE_CODES = {
  missing: '34',
  'too-late': '35',
  admitted: '35',
  replaced: '35',
} as const satisfies Record<string, FailureCode>;

const CODES = { ...SEAT_CODES, ...CHANGE_CODES };

/** Why a registration got no seat. */
export type SeatRefusal = keyof typeof SEAT_CODES;
/** Why a call got no seat, or changed nothing. */
export type RefusalReason = keyof typeof CODES;

/** A seat that a registration got. */
export type GrantedSeat =
  /** `replayed`: the idempotency key was answered before. */
  | { kind: 'registered'; serial: number; passCode: number; replayed: boolean }
  /** The attendee already had this seat. */
  | { kind: 'existing'; serial: number; passCode: number };

/**
 * A registration without a seat. `limit`: how many seats of the ticket the partner can hold, if that is the
 * reason.
 */
export interface RefusedSeat {
  kind: SeatRefusal;
  replayed?: boolean;
  limit?: number;
}

/** Outcome of one registration, from the SQL function to the response. */
export type SeatOutcome = GrantedSeat | RefusedSeat;

/** Outcome of a bulk call, or of a hold: one for each registration, in order. */
export interface BulkOutcome {
  kind: 'bulk';
  outcomes: SeatOutcome[];
  replayed: boolean;
  /** When the hold ends. */
  heldUntil?: Date;
}

/** Outcome of a call. A bulk call has one outcome of a single registration if it failed as a whole. */
export type Outcome = SeatOutcome | BulkOutcome;

export const OVERLOADED: RefusedSeat = { kind: 'overloaded' };

/** Whether the call has reserved a seat now. */
export const isNew = (outcome: Outcome): boolean =>
  outcome.kind === 'bulk'
    ? !outcome.replayed && outcome.outcomes.some(isNew)
    : outcome.kind === 'registered' && !outcome.replayed;

export const hasSeat = (outcome: Outcome): outcome is GrantedSeat =>
  outcome.kind === 'registered' || outcome.kind === 'existing';

/**
 * Returns the outcome of a bulk call or a hold, or why the whole call was refused. Throws if it failed
 * unexpectedly.
 */
export function bulkOutcomeOf(outcome: Outcome, call: string): BulkOutcome | RefusedSeat {
  if (outcome.kind === 'failed' || hasSeat(outcome)) throw new Error(`${call} failed`);
  return outcome;
}

/** Every failure code that Register For Event can return. */
export const REGISTER_FAILURES = [
  ...new Set<FailureCode>([...COMMON_FAILURES, '11', ...Object.values(SEAT_CODES)]),
].filter((code) => code !== SEAT_CODES['group-refused']);

const PARTNER_SOLD_OUT = 'You have sold all seats that you may sell of this ticket';
const TICKET_HAS_ADDRESS = 'This e-mail address is already registered for the ticket';
const SEAT_ADMITTED = 'The seat was admitted at the door, so only the operator of the event can change it';
/** The message for partners and operators about a seat that belongs to another attendee now. */
export const SEAT_REPLACED = 'The attendee was changed, and the seat belongs to the new registration';
export const NO_HOLD = 'No such hold';

/** Returns the envelope that answers a registration. */
export function responseOf(principal: Principal, outcome: SeatOutcome) {
  if (hasSeat(outcome)) return success(passReferenceIn(principal, outcome));
  const [code, { message }] = refusalOf(principal, outcome.kind, outcome);
  return failure(code, message);
}

/** Returns the pass reference of a seat that the caller got. */
export const passReferenceIn = (
  { passPrefix: prefix, eventId }: Principal,
  { serial, passCode }: { serial: number; passCode: number },
) => formatPassReference({ prefix, eventId, serial, passCode });

/** The parts of a refusal's message. */
export interface RefusalDetails {
  /** As in RefusedSeat. */
  limit?: number | undefined;
  /** Replaces the usual message of the reason. */
  message?: string | undefined;
  /** The part of the request that is refused. The message begins with it. */
  field?: string;
}

/** Returns the code and the message of a refusal. Without a message, the answer has that of the code. */
export function refusalOf(
  principal: Principal,
  reason: RefusalReason,
  { limit, message = messageOf(principal, reason, limit), field }: RefusalDetails = {},
): [code: FailureCode, specifics: { message?: string }] {
  const code = CODES[reason];
  if (field !== undefined) return [code, { message: `${field}: ${message ?? RESPONSE_CODES[code].message}` }];
  return [code, message === undefined ? {} : { message }];
}

/** Returns the message of a reason. Undefined: that of its code. */
function messageOf({ duplicateScope }: Principal, reason: RefusalReason, limit?: number) {
  if (reason === 'duplicate' && duplicateScope === 'ticket') return TICKET_HAS_ADDRESS;
  if (reason === 'allocation-sold') return PARTNER_SOLD_OUT;
  if (reason === 'hold-limit' && limit !== undefined)
    return `You can hold at most ${limit} seats of this ticket at a time`;
  if (reason === 'admitted') return SEAT_ADMITTED;
  return reason === 'replaced' ? SEAT_REPLACED : undefined;
}

/** Returns why a registration in this state cannot be cancelled any more. */
export const whyNotCancelled = ({ state }: RegistrationRow) =>
  `The registration is ${state}, and the cancellation deadline has passed`;

/** Returns why a registration in this state cannot be confirmed. */
export function whyNotConfirmed({ state, isExpired }: RegistrationRow) {
  if (isExpired) return 'The hold has expired, and the registration is cancelled';
  if (state === 'held') return 'The registration has no attendee yet; call Confirm Hold';
  return `The registration is ${state}`;
}

/** Returns why another attendee cannot get the seat of a registration in this state. */
export function whyNotReplaced(state: RegistrationRow['state']) {
  if (state === 'held') return 'The registration is held; confirm it first';
  return state === 'cancelled' ? 'The registration is cancelled' : 'The deadline for changes has passed';
}

/** Returns why a hold cannot be changed as requested. */
export function whyHoldTooLate(hold: FoundHold) {
  const [open] = openSeats(hold);
  if (open?.state === 'held')
    return 'A seat of the hold was released meanwhile; call Get Hold for the others';
  if (open) return 'The hold is confirmed already';
  return hold.seats.some(({ isExpired }) => isExpired)
    ? 'The hold has expired'
    : 'The seats of the hold were released';
}

/**
 * `code-32@floodgate.invalid`. A tag makes further addresses. RFC 2606 reserves the domain, so no attendee
 * has such an address.
 */
const PROVOKING_ADDRESS = /^code-(\d\d)(?:\+[^@]*)?@floodgate\.invalid$/i;

/**
 * Returns the code that the e-mail address of a test event's attendee requests, if it is one of `codes`. Such
 * a request reserves nothing. Only 91 reserves a seat and loses the first answer, as can happen after a real
 * commit.
 */
export function provokedCode(
  { mode }: Principal,
  { emailAddress }: Pick<RegistrationRequest, 'emailAddress'>,
  codes: readonly FailureCode[],
) {
  if (mode !== 'test') return undefined;
  const provoked = PROVOKING_ADDRESS.exec(emailAddress)?.[1];
  return codes.find((code) => code === provoked);
}
