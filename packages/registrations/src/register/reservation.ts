import { createHash, randomInt, randomUUIDv7 } from 'node:crypto';
import type { Static } from '@sinclair/typebox';
import {
  DEFAULT_HOLD_SECONDS,
  type Attendee,
  type HoldRequest,
  type RegisterHeaders,
  type RegistrationRequest,
} from '@floodgate/contract';
import type { Principal } from '@floodgate/http';

type Headers = Static<typeof RegisterHeaders>;

/** The data that a partner sends about an attendee. Null: the request lacks the field. */
export interface AttendeeFields {
  fullName: string | null;
  emailAddress: string | null;
  phoneNumber: string | null;
  gender: string | null;
  tableOrSeat: string | null;
  extraData1: string | null;
  extraData2: string | null;
}

/** The key of a call, and a digest of its content: a key stands for one content. */
export interface Idempotency {
  key: string;
  fingerprint: string;
}

/** One validated request for a seat: the attendee's fields, the partner and the ticket. */
export interface Reservation extends AttendeeFields {
  shardId: number;
  partnerId: number;
  eventId: number;
  ticketId: number;
  /** Ten random digits. */
  passCode: number;
  /** Null: the event allows duplicates, or the seat has no attendee yet. */
  attendeeDigest: string | null;
  /** Whether a duplicate gets the attendee's existing seat, if it is this partner's. */
  returnsExisting: boolean;
  /** How long the seat is held unless it is confirmed. Null: it is not held. */
  holdSeconds: number | null;
  /** The seats of a basket have the same. */
  holdId: string | null;
  partnerReference: string | null;
  /** Null: the call has no key. */
  idempotency: Idempotency | null;
  /** The batch that has committed the call, for traces and the access log. Set by commitBatch. */
  batchId?: string | undefined;
}

/** The reservations of a bulk call: at least one, all of one partner and event. */
export interface BulkReservation {
  reservations: readonly Reservation[];
  /** All are granted, or none. */
  isAll: boolean;
  /** Null: the call has no key. */
  idempotency: Idempotency | null;
  /** As that of a reservation. */
  batchId?: string | undefined;
}

/** The reservations of one call. They are never split between batches. */
export type Submission = Reservation | BulkReservation;

/** Returns the fields of the attendee. */
export const attendeeIn = ({
  fullName,
  emailAddress,
  phoneNumber = null,
  gender = null,
  tableOrSeat = null,
  extraData1 = null,
  extraData2 = null,
}: Attendee): AttendeeFields => ({
  fullName,
  emailAddress,
  phoneNumber,
  gender,
  tableOrSeat,
  extraData1,
  extraData2,
});

/** Stands for the attendee of a held seat, which has none until the hold is confirmed. */
const NOBODY = { fullName: '', emailAddress: '' };
/** The fields of an attendee, in the order of attendeeIn. */
export const ATTENDEE_FIELDS = Object.keys(attendeeIn(NOBODY)) as (keyof AttendeeFields)[];

/**
 * Returns the unguessable part of a pass reference: ten digits, the first not zero, from a secure random
 * source.
 */
export const drawPassCode = () => randomInt(1_000_000_000, 10_000_000_000);

/** Returns the reservation of a request. */
export function toReservation(
  principal: Principal,
  request: RegistrationRequest,
  headers: Headers,
): Reservation {
  const { shardId, partnerId, eventId, duplicatePolicy } = principal;
  const ticketId = request.organizedEventTicketID;
  const holdSeconds = holdSecondsIn(headers);
  return {
    shardId,
    partnerId,
    eventId,
    ticketId,
    passCode: drawPassCode(),
    ...attendeeIn(request),
    attendeeDigest: digestFor(principal, ticketId, request),
    returnsExisting: duplicatePolicy === 'return_existing',
    holdSeconds,
    holdId: null,
    partnerReference: request.partnerReference ?? null,
    idempotency: idempotencyOf(headers, () => [contentOf(request), holdSeconds]),
    // The property is there from the start: then V8 does not change the shape of the object when it is set.
    batchId: undefined,
  };
}

/** Returns the reservations of a bulk call. The idempotency key is the call's. */
export function toBulkReservation(
  principal: Principal,
  requests: readonly RegistrationRequest[],
  isAll: boolean,
  headers: Headers,
): BulkReservation {
  const { 'idempotency-key': _key, ...headersOfEach } = headers;
  return {
    reservations: requests.map((request) => toReservation(principal, request, headersOfEach)),
    isAll,
    idempotency: idempotencyOf(headers, () => [isAll, requests.map(contentOf), holdSecondsIn(headers)]),
    batchId: undefined,
  };
}

/** Returns the reservations of a hold without attendees. All are granted or none. */
export function toHold(principal: Principal, request: HoldRequest, headers: Headers): BulkReservation {
  const { tickets, partnerReference = null } = request;
  const holdSeconds = holdSecondsIn(headers) ?? DEFAULT_HOLD_SECONDS;
  return {
    ...seatsOfHold(principal, tickets, { holdId: randomUUIDv7(), holdSeconds, partnerReference }),
    idempotency: idempotencyOf(headers, () => ['hold', basketOf(tickets), partnerReference, holdSeconds]),
  };
}

/** The hold that seats are part of. */
type HoldOfSeats = Pick<Reservation, 'holdId' | 'holdSeconds' | 'partnerReference'>;

/** Returns the reservations of seats that a hold gets. All are granted or none. */
export function toMoreSeats(
  principal: Principal,
  tickets: HoldRequest['tickets'],
  hold: HoldOfSeats,
  headers: Headers,
): BulkReservation {
  return {
    ...seatsOfHold(principal, tickets, hold),
    // The time that is left is another one in a repeated call.
    idempotency: idempotencyOf(headers, () => ['more seats', basketOf(tickets), hold.holdId]),
  };
}

/** Equal baskets have the same content, whatever the order of their fields. */
const basketOf = (tickets: HoldRequest['tickets']) =>
  tickets.map(({ organizedEventTicketID, seats }) => ({ organizedEventTicketID, seats }));

function seatsOfHold(principal: Principal, tickets: HoldRequest['tickets'], hold: HoldOfSeats) {
  // A seat without an attendee is no duplicate.
  const holder = { ...principal, duplicatePolicy: 'allow' as const };
  const seatOf = (organizedEventTicketID: number): Reservation => ({
    ...toReservation(holder, { ...NOBODY, organizedEventTicketID }, {}),
    fullName: null,
    emailAddress: null,
    ...hold,
  });
  return {
    reservations: tickets.flatMap(({ organizedEventTicketID, seats }) =>
      Array.from({ length: seats }, () => seatOf(organizedEventTicketID)),
    ),
    isAll: true,
    batchId: undefined,
  };
}

/** Returns the time in the header Hold-For, or null if the request lacks it. */
export const holdSecondsIn = ({ 'hold-for': seconds }: Pick<Headers, 'hold-for'>) =>
  seconds === undefined ? null : Number(seconds);

/** The content that two requests with the same idempotency key must share. */
function contentOf(request: RegistrationRequest) {
  const content = [request.organizedEventTicketID, attendeeIn(request)];
  return request.partnerReference == null ? content : [...content, request.partnerReference];
}

function idempotencyOf(headers: Headers, content: () => unknown[]): Idempotency | null {
  const key = headers['idempotency-key'];
  return key === undefined ? null : { key, fingerprint: uuidDigest(JSON.stringify(content())) };
}

/** The rules of an event about attendees who register twice. */
type DuplicateRules = Pick<Principal, 'duplicatePolicy' | 'duplicateScope'>;

/** Returns the digest of an attendee; null if the event allows duplicates. */
export const digestFor = (
  event: DuplicateRules,
  ticketId: number,
  { emailAddress }: { emailAddress: string },
) => (event.duplicatePolicy === 'allow' ? null : digestOfAttendee(event, ticketId, emailAddress));

/** Returns the digest that an attendee can have once: of the e-mail address, or of address and ticket. */
export const digestOfAttendee = (
  { duplicateScope }: DuplicateRules,
  ticketId: number,
  emailAddress: string,
) => uuidDigest((duplicateScope === 'ticket' ? `${ticketId} ` : '') + emailAddress.toLowerCase());

/** 128 bits of SHA-256 in the form of a UUID, which Postgres stores and compares fastest. */
const uuidDigest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);

export const isBulk = (submission: Submission): submission is BulkReservation => 'reservations' in submission;

export const seatsOf = (submission: Submission) => (isBulk(submission) ? submission.reservations.length : 1);

/** Returns the reservations of all submissions, in order. */
export function reservationsOf(submissions: readonly Submission[]): readonly Reservation[] {
  if (areSingle(submissions)) return submissions;
  return submissions.flatMap((submission) => (isBulk(submission) ? submission.reservations : [submission]));
}

const areSingle = (submissions: readonly Submission[]): submissions is readonly Reservation[] =>
  !submissions.some(isBulk);
