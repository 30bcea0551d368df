import { sql } from 'kysely';
import { createHash, randomUUIDv7 } from 'node:crypto';
import type { Static } from '@sinclair/typebox';
import type {
  Attendee,
  FailureCode,
  HoldRequest,
  RegisterHeaders,
  RegistrationRequest,
} from '@floodgate/contract';
import { plainArray, textArray, type Database } from '@floodgate/database';
import type { Principal } from '@floodgate/http';
import { drawPassCode } from './pass-code.ts';

type Headers = Static<typeof RegisterHeaders>;

/** Returns the fields of the attendee. A field that the request lacks is null. */
export const attendeeIn = ({
  fullName,
  emailAddress,
  phoneNumber = null,
  gender = null,
  tableOrSeat = null,
  extraData1 = null,
  extraData2 = null,
}: Attendee): Record<keyof Attendee, string | null> => ({
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
export const ATTENDEE_FIELDS = Object.keys(attendeeIn(NOBODY)) as (keyof Attendee)[];

/** The content that two requests with the same idempotency key must share. */
function contentOf(request: RegistrationRequest) {
  const content = [request.organizedEventTicketID, attendeeIn(request)];
  return request.partnerReference == null ? content : [...content, request.partnerReference];
}

const holdSecondsIn = ({ 'hold-for': seconds }: Headers) => (seconds === undefined ? null : Number(seconds));

/** commitBatch sets the batch that has committed a call, for traces and the access log. The property is there from the start: V8 is faster. */
const uncommitted = <Made extends { batchId: undefined }>(made: Made) =>
  made as Omit<Made, 'batchId'> & { batchId?: string | undefined };

/** One validated request for a seat: the attendee's fields, the partner and the ticket. */
export type Reservation = ReturnType<typeof toReservation>;

/** Returns the reservation of a request. */
export function toReservation(principal: Principal, request: RegistrationRequest, headers: Headers) {
  const { shardId, partnerId, eventId, duplicatePolicy } = principal;
  const ticketId = request.organizedEventTicketID;
  const holdSeconds = holdSecondsIn(headers);
  return uncommitted({
    shardId,
    partnerId,
    eventId,
    ticketId,
    /** Ten random digits. */
    passCode: drawPassCode(),
    ...attendeeIn(request),
    attendeeDigest: digestFor(principal, ticketId, request),
    /** Whether a duplicate gets the attendee's existing seat, if it is this partner's. */
    returnsExisting: duplicatePolicy === 'return_existing',
    /** How long the seat is held unless it is confirmed. Null: it is not held. */
    holdSeconds,
    /** The seats of a basket have the same. */
    holdId: null as string | null,
    partnerReference: request.partnerReference ?? null,
    idempotency: idempotencyOf(headers, () => [contentOf(request), holdSeconds]),
    batchId: undefined,
  });
}

type Rules = Pick<Principal, 'duplicatePolicy' | 'duplicateScope'>;

/** Returns the digest of an attendee; null if the event allows duplicates. */
export const digestFor = (event: Rules, ticketId: number, { emailAddress }: { emailAddress: string }) =>
  event.duplicatePolicy === 'allow' ? null : digestOfAttendee(event, ticketId, emailAddress);

/** Returns the digest that an attendee can have once: of the e-mail address, or of address and ticket. */
export const digestOfAttendee = ({ duplicateScope }: Rules, ticketId: number, emailAddress: string) =>
  uuidDigest((duplicateScope === 'ticket' ? `${ticketId} ` : '') + emailAddress.toLowerCase());

/** The reservations of a bulk call: at least one, all of one partner and event. */
export type BulkReservation = ReturnType<typeof toBulkReservation>;

/** Returns the reservations of a bulk call. With `isAll`, all are granted or none. The idempotency key is the call's. */
export function toBulkReservation(
  principal: Principal,
  requests: readonly RegistrationRequest[],
  isAll: boolean,
  headers: Headers,
) {
  const { 'idempotency-key': _key, ...others } = headers;
  return uncommitted({
    reservations: requests.map((request) => toReservation(principal, request, others)),
    isAll,
    idempotency: idempotencyOf(headers, () => [isAll, requests.map(contentOf), holdSecondsIn(headers)]),
    batchId: undefined,
  });
}

/** Returns the reservations of a hold without attendees. All are granted or none. */
export function toHold(
  principal: Principal,
  { tickets, partnerReference = null }: HoldRequest,
  holdSeconds: number,
  headers: Headers,
) {
  const holdId = randomUUIDv7();
  // Equal baskets have the same fingerprint, whatever the order of their fields.
  const wanted = tickets.map(({ organizedEventTicketID, seats }) => ({ organizedEventTicketID, seats }));
  // A seat without an attendee is no duplicate.
  const holder = { ...principal, duplicatePolicy: 'allow' as const };
  const seat = (organizedEventTicketID: number): Reservation => ({
    ...toReservation(holder, { ...NOBODY, organizedEventTicketID }, {}),
    fullName: null,
    emailAddress: null,
    holdSeconds,
    holdId,
    partnerReference,
  });
  return uncommitted({
    reservations: tickets.flatMap(({ organizedEventTicketID, seats }) =>
      Array.from({ length: seats }, () => seat(organizedEventTicketID)),
    ),
    isAll: true,
    idempotency: idempotencyOf(headers, () => ['hold', wanted, partnerReference, holdSeconds]),
    batchId: undefined,
  });
}

function idempotencyOf(headers: Headers, content: () => unknown[]) {
  const key = headers['idempotency-key'];
  return key === undefined ? null : { key, fingerprint: uuidDigest(JSON.stringify(content())) };
}

/** 128 bits of SHA-256 in the form of a UUID, which Postgres stores and compares fastest. */
const uuidDigest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** The reservations of one call. They are never split between batches. */
export type Submission = Reservation | BulkReservation;

export const isBulk = (submission: Submission): submission is BulkReservation => 'reservations' in submission;

export const seatsOf = (submission: Submission) => (isBulk(submission) ? submission.reservations.length : 1);

/** Returns the reservations of all submissions, in order. */
export function reservationsOf(submissions: readonly Submission[]): readonly Reservation[] {
  if (!submissions.some(isBulk)) return submissions as readonly Reservation[];
  return submissions.flatMap((submission) => (isBulk(submission) ? submission.reservations : [submission]));
}

/**
 * The response code of each outcome without a seat. `allocation-sold`: the partner sold all that it may. `group-refused`: another
 * registration of an all-or-none call was refused. `hold-limit`: the partner holds its share of the ticket. `key-reused`: the
 * idempotency key was used with another request. `in-progress`: another request with the key is not answered yet. `overloaded`:
 * nothing was reserved, because the queue is full, or Postgres is down or busy. `unknown`: it may have been committed, because
 * Postgres stopped answering. `failed`: nothing was reserved, for an unexpected reason.
 */
export const CODES = {
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

export type Refusal = keyof typeof CODES;

/** Outcome of one registration, from the SQL function to the response. `replayed`: the idempotency key was answered before. */
export type SeatOutcome =
  | { kind: 'registered'; serial: number; passCode: number; replayed: boolean }
  /** The attendee already had this seat. */
  | { kind: 'existing'; serial: number; passCode: number }
  /** `limit`: how many seats of the ticket the partner can hold. Undefined: not known, or not the reason. */
  | { kind: Refusal; replayed?: boolean; limit?: number };

/** Outcome of a call. A bulk call has one for each registration, in order. `heldUntil`: when a hold ends. */
export type Outcome =
  SeatOutcome | { kind: 'bulk'; outcomes: SeatOutcome[]; replayed: boolean; heldUntil?: Date };

/** Whether the call has reserved a seat now. */
export const isNew = (outcome: Outcome): boolean =>
  outcome.kind === 'bulk'
    ? !outcome.replayed && outcome.outcomes.some(isNew)
    : outcome.kind === 'registered' && !outcome.replayed;

export const OVERLOADED: SeatOutcome = { kind: 'overloaded' };

/** The result of the SQL function. */
interface Answer {
  /** By position. Null: all are registered. */
  outcomes: SeatOutcome['kind'][] | null;
  /** By position: the serials of seats granted by this batch. Null: all are granted, and their serials follow `first`. */
  serials: (number | null)[] | null;
  first?: number | null;
  /** Registrations that get an earlier answer, or whose attendee already has a seat. */
  replays: [position: number, serial: number | null, passCode: number | null][];
  /** Registrations that would exceed what the partner can hold of a ticket, each with this number of seats. */
  limits?: [position: number, limit: number][] | null;
  /** By position: when the hold ends. Null: the batch has no baskets. */
  expires?: (string | null)[] | null;
}

/** The contract promises this lifetime of idempotency keys to partners. */
export const DEFAULT_RETENTION_HOURS = 24;
/** Seconds after the commit until the relay finalizes a batch that is still pending. */
export const RELAY_GRACE_SECONDS = 5;

export interface ReserveOptions {
  /** The batch was sent before with this id, and the connection was lost: returns the same outcomes. */
  isRepeat?: boolean;
  /** How long the statement waits for a row lock. By default only its own timeout limits this. */
  lockWithinMs?: number;
  /** Lifetime of idempotency keys. */
  retentionHours?: number;
  /** How much of a ticket one partner may hold. By default all of it. */
  holdSharePercent?: number;
  /** Longest hold. */
  holdLimitSeconds?: number;
}

/**
 * Reserves seats for a batch of one shard in one function call and one commit, all or nothing. Grants seats by position while they
 * last. Returns one outcome per submission, in order. Idempotent by `batchId`: see `isRepeat`. No two submissions of a batch may
 * have the same idempotency key.
 */
export async function reserveBatch(
  db: Database,
  batchId: string,
  submissions: readonly Submission[],
  {
    isRepeat = false,
    lockWithinMs = 0,
    retentionHours = DEFAULT_RETENTION_HOURS,
    holdSharePercent,
    holdLimitSeconds = Infinity,
  }: ReserveOptions = {},
): Promise<Outcome[]> {
  const reservations = reservationsOf(submissions);
  const { wanted, indexes } = countWanted(reservations);
  const calls = findCalls(submissions);
  // Most columns have no value, so they are not gathered first.
  const column = <Value extends number | string>(
    read: (reservation: Reservation) => Value | null,
    format: (values: (Value | null)[]) => string | null,
  ) => (reservations.some((one) => read(one) !== null) ? format(reservations.map(read)) : null);
  const plain = (read: (reservation: Reservation) => number | string | null) => column(read, plainArray);
  const text = (read: (reservation: Reservation) => string | null) => column(read, textArray);
  // Citus sends the whole call to the shard's server only if it is in the select list and its arguments are plain values.
  const { rows } = await sql<{ answer: Answer }>`
    select reserve_batch(
      ${reservations[0]!.shardId}::integer, ${batchId}::uuid, ${isRepeat}::boolean, ${lockWithinMs}::integer,
      ${`${RELAY_GRACE_SECONDS} s`}::interval, ${`${retentionHours} h`}::interval,
      ${plainArray(wanted.map((r) => r.ticketId))}::integer[], ${plainArray(wanted.map((r) => r.eventId))}::integer[],
      ${plainArray(wanted.map((r) => r.seats))}::integer[],
      ${plainArray(calls.map(({ first }) => first))}::integer[], ${plainArray(calls.map(({ last }) => last))}::integer[],
      ${plainArray(calls.map(({ isAll }) => `${isAll}`))}::boolean[],
      ${textArray(calls.map(({ key }) => key))}::text[],
      ${plainArray(calls.map(({ fingerprint }) => fingerprint))}::uuid[],
      ${plainArray(indexes)}::integer[],
      ${plain((r) => r.partnerId)}::integer[], ${plain((r) => r.passCode)}::bigint[],
      ${plain((r) => r.attendeeDigest)}::uuid[], ${plain((r) => (r.returnsExisting ? 'true' : null))}::boolean[],
      ${plainArray(findRepeats(reservations))}::integer[], ${plain((r) => r.holdSeconds && Math.min(r.holdSeconds, holdLimitSeconds))}::integer[],
      ${text((r) => r.fullName)}::text[], ${text((r) => r.emailAddress)}::text[],
      ${text((r) => r.phoneNumber)}::text[], ${text((r) => r.gender)}::text[],
      ${text((r) => r.tableOrSeat)}::text[], ${text((r) => r.extraData1)}::text[],
      ${text((r) => r.extraData2)}::text[], ${holdSharePercent ?? null}::integer,
      ${plain((r) => r.holdId)}::uuid[], ${text((r) => r.partnerReference)}::text[],
      true
    ) as answer`.execute(db);
  const { answer } = rows[0]!;
  return gatherBulks(submissions, readOutcomes(answer, reservations), answer.expires);
}

/** Returns the bulk calls and those with a key, each with the (1-based) positions of its first and last registration. */
function findCalls(submissions: readonly Submission[]) {
  let last = 0;
  return submissions.flatMap((submission) => {
    const first = last + 1;
    last += seatsOf(submission);
    const { key = null, fingerprint = null } = submission.idempotency ?? {};
    if (!isBulk(submission) && key === null) return [];
    return { first, last, key, fingerprint, isAll: isBulk(submission) && submission.isAll };
  });
}

/**
 * Returns, by position, the (1-based) position of the first reservation for the same attendee of the same event. Empty if no
 * attendee appears twice.
 */
function findRepeats(reservations: readonly Reservation[]): (number | null)[] {
  const firsts = new Map<string, number>();
  let isRepeated = false;
  const positions = reservations.map(({ eventId, attendeeDigest }, index) => {
    if (attendeeDigest === null) return null;
    const first = firsts.getOrInsert(`${eventId} ${attendeeDigest}`, index + 1);
    isRepeated ||= first !== index + 1;
    return first;
  });
  return isRepeated ? positions : [];
}

/** Returns the outcome of each submission. The SQL function repeats an outcome of a whole bulk call for each of its registrations. */
function gatherBulks(
  submissions: readonly Submission[],
  outcomes: SeatOutcome[],
  expires: Answer['expires'],
): Outcome[] {
  if (!submissions.some(isBulk)) return outcomes;
  let next = 0;
  return submissions.map((submission): Outcome => {
    if (!isBulk(submission)) return outcomes[next++]!;
    const position = next;
    next += submission.reservations.length;
    const ofCall = outcomes.slice(position, next);
    const [first] = ofCall as [SeatOutcome];
    if (first.kind === 'key-reused') return first;
    const replayed = 'replayed' in first && first.replayed;
    const expiry = expires?.[position];
    return { kind: 'bulk', outcomes: ofCall, replayed, ...(expiry && { heldUntil: new Date(expiry) }) };
  });
}

/**
 * Returns the wanted tickets in the order of ticket and event with their number of seats, each ticket once per event under which it is requested. Also
 * returns the (1-based) index of the ticket of each reservation.
 */
function countWanted(reservations: readonly Reservation[]) {
  const byTicket = new Map<string, { ticketId: number; eventId: number; seats: number; index: number }>();
  const entries = reservations.map(({ ticketId, eventId }) => {
    const name = `${ticketId} ${eventId}`;
    const entry = byTicket.get(name) ?? { ticketId, eventId, seats: 0, index: 0 };
    if (entry.seats++ === 0) byTicket.set(name, entry);
    return entry;
  });
  const wanted = [...byTicket.values()].toSorted((a, b) => a.ticketId - b.ticketId || a.eventId - b.eventId);
  wanted.forEach((entry, index) => (entry.index = index + 1));
  return { wanted, indexes: entries.map(({ index }) => index) };
}

const refused = (kind: Refusal, replayed: boolean, limit?: number): SeatOutcome => ({
  kind,
  replayed,
  ...(limit !== undefined && { limit }),
});

function readOutcomes(
  { outcomes, serials, first, replays, limits }: Answer,
  reservations: readonly Reservation[],
): SeatOutcome[] {
  const before = new Map(replays.map(([position, serial, passCode]) => [position - 1, { serial, passCode }]));
  const holdLimits = new Map((limits ?? []).map(([position, limit]) => [position - 1, limit]));
  const granted = serials ?? reservations.map((_, index) => first! + index);
  return reservations.map(({ passCode }, index): SeatOutcome => {
    const kind = outcomes?.[index] ?? 'registered';
    if (kind === 'key-reused') return { kind };
    const replay = before.get(index);
    if (kind === 'existing') return { kind, serial: replay!.serial!, passCode: replay!.passCode! };
    const replayed = replay !== undefined;
    if (kind !== 'registered') return refused(kind, replayed, holdLimits.get(index));
    const seat = replay ?? { serial: granted[index] ?? null, passCode };
    // The registration of the earlier answer no longer exists, so its pass reference is unknown.
    if (seat.serial === null || seat.passCode === null) return { kind: 'failed' };
    return { kind, serial: seat.serial, passCode: seat.passCode, replayed };
  });
}
