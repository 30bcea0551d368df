import { createHash, randomInt } from 'node:crypto';
import type { RegistrationRequest } from '@floodgate/contract';
import type { PartnerPrincipal } from '@floodgate/http';

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

/** The settings of a call, in addition to its registrations. */
export interface CallOptions {
  /** Its Idempotency-Key. */
  key?: string | undefined;
  /** How long its seats are held unless they are confirmed. */
  holdSeconds?: number | undefined;
}

export const isBulk = (submission: Submission): submission is BulkReservation => 'reservations' in submission;

export const seatsOf = (submission: Submission) => (isBulk(submission) ? submission.reservations.length : 1);

/** Returns the reservations of all submissions, in order. */
export function reservationsOf(submissions: readonly Submission[]): readonly Reservation[] {
  if (!submissions.some(isBulk)) return submissions as readonly Reservation[];
  return submissions.flatMap((submission) => (isBulk(submission) ? submission.reservations : [submission]));
}

/** Returns the fields of the attendee, null where the request has none. */
const attendeeIn = (request: RegistrationRequest) => ({
  fullName: request.fullName,
  emailAddress: request.emailAddress,
  phoneNumber: request.phoneNumber ?? null,
  gender: request.gender ?? null,
  tableOrSeat: request.tableOrSeat ?? null,
  extraData1: request.extraData1 ?? null,
  extraData2: request.extraData2 ?? null,
});

/** What two requests with the same idempotency key must have in common. */
const contentOf = (request: RegistrationRequest) => [request.organizedEventTicketID, attendeeIn(request)];

export function toBulk(
  principal: PartnerPrincipal,
  requests: readonly RegistrationRequest[],
  isAll: boolean,
  { key, holdSeconds }: CallOptions,
): BulkReservation {
  return {
    reservations: requests.map((request) => toReservation(principal, request, { holdSeconds })),
    isAll,
    idempotency: idempotencyOf(key, () => [isAll, requests.map(contentOf), holdSeconds]),
  };
}

export function toReservation(
  principal: PartnerPrincipal,
  request: RegistrationRequest,
  { key, holdSeconds }: CallOptions,
): Reservation {
  const { shardId, partnerId, eventId, duplicatePolicy } = principal;
  return {
    shardId,
    partnerId,
    eventId,
    ticketId: request.organizedEventTicketID,
    passCode: drawPassCode(),
    ...attendeeIn(request),
    attendeeDigest: attendeeDigest(principal, request),
    returnsExisting: duplicatePolicy === 'return_existing',
    holdSeconds: holdSeconds ?? null,
    idempotency: idempotencyOf(key, () => [contentOf(request), holdSeconds]),
  };
}

function attendeeDigest(
  { duplicatePolicy, duplicateScope }: PartnerPrincipal,
  { emailAddress, organizedEventTicketID }: RegistrationRequest,
): string | null {
  if (duplicatePolicy === 'allow') return null;
  const scope = duplicateScope === 'ticket' ? `${organizedEventTicketID} ` : '';
  return uuidDigest(scope + emailAddress.toLowerCase());
}

function idempotencyOf(key: string | undefined, content: () => unknown[]): Idempotency | null {
  return key === undefined ? null : { key, fingerprint: uuidDigest(JSON.stringify(content())) };
}

/** 128 bits of SHA-256 in the form of a UUID, which Postgres stores and compares fastest. */
function uuidDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Returns the unguessable part of a pass reference: ten digits, the first not zero, from a secure random source. */
export function drawPassCode(): number {
  return randomInt(1_000_000_000, 10_000_000_000);
}
