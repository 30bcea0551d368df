import { sql } from 'kysely';
import type { RegistrationRequest } from '@floodgate/contract';
import { plainArray, textArray, type Database } from '@floodgate/database';
import type { Outcome, Refusal } from './outcome.ts';

/** One validated request for a seat: the attendee's fields, and whose they are. */
export interface Reservation extends Required<Omit<RegistrationRequest, 'organizedEventTicketID'>> {
  partnerId: number;
  eventId: number;
  ticketId: number;
  /** Ten random digits, drawn by the caller. */
  passCode: number;
  /** UUID-sized digest of the attendee's e-mail address; only under events that reject duplicates. */
  attendeeDigest: string | null;
  /** Idempotency key with the UUID-sized fingerprint of its request. */
  idempotency: { key: string; fingerprint: string } | null;
}

interface OutcomeRow {
  position: number;
  outcome: Refusal | 'registered' | 'key-reused' | 'failed';
  serial: number | null;
  pass_code: number | null;
  replayed: boolean;
}

/** How long after its commit a batch is left to the queue before the relay enqueues it again. */
export const RELAY_GRACE_SECONDS = 5;
export const IDEMPOTENCY_RETENTION_HOURS = 24;

/**
 * Reserves seats for a whole batch: one statement, one commit. Seats go by position in the batch while they last. Returns
 * one outcome per reservation, in order. Nothing happens, or all of it.
 *
 * A batch that grants seats has a row under `batchId`. That is what makes a lost connection harmless: see voidBatch.
 * The caller guarantees that no two reservations of a batch share an idempotency key or an attendee digest.
 * It waits for a row that another transaction has locked no longer than `lockWithinMs` (0: as long as the statement may
 * take).
 */
export async function reserveBatch(
  db: Database,
  batchId: string,
  reservations: readonly Reservation[],
  lockWithinMs = 0,
): Promise<Outcome[]> {
  const hasKeys = reservations.some((r) => r.idempotency !== null);
  const hasDigests = reservations.some((r) => r.attendeeDigest !== null);
  const { rows } = await sql<OutcomeRow>`
    with
    -- The reservations, by position.
    input as (${inputOf(reservations)}),
    -- What was answered before under the same idempotency keys.
    remembered as (${hasKeys ? rememberedAnswers : noRememberedAnswers}),
    -- Whose attendee is registered for the event already.
    duplicate as (${hasDigests ? duplicates : noDuplicates}),
    -- The tickets, locked: in id order, so that two batches can never wait for each other.
    ticket as (${lockTickets(reservations, lockWithinMs)}),
    -- Who gets a seat if there are enough, and as the how manieth of the ticket.
    candidate as (${candidates}),
    -- The seats, granted by turn.
    registered as (${insertRegistrations(batchId, hasDigests)}),
    -- The tickets' counters, moved on by as many.
    counted as (${countSeats}),
    -- The batch's row: outbox for finalization, and proof that this has committed.
    batch as (${insertBatch(batchId)}),
    -- One word for each reservation.
    outcome as (${outcomes})
    -- The answers, remembered under their keys.
    ${hasKeys ? sql`, remember as (${rememberAnswers})` : sql``}
    select position, outcome, serial, pass_code, replayed from outcome order by position`.execute(db);
  return rows.map(readOutcome);
}

// Most batches have neither idempotency keys nor digests. For those, the parts that deal with them are empty, and
// Postgres plans them away.
// What is unique goes in sorted: one batch may wait for another's attendee or key until that one has ended, and in
// one order for all, two can never wait for each other.

function inputOf(reservations: readonly Reservation[]) {
  const plain = (read: (reservation: Reservation) => number | string | null) =>
    plainArray(reservations.map(read));
  const text = (read: (reservation: Reservation) => string | null) => textArray(reservations.map(read));
  return sql`
    select * from unnest(
      ${plain((r) => r.ticketId)}::integer[], ${plain((r) => r.eventId)}::integer[],
      ${plain((r) => r.partnerId)}::integer[], ${plain((r) => r.passCode)}::bigint[],
      ${plain((r) => r.attendeeDigest)}::uuid[], ${text((r) => r.idempotency?.key ?? null)}::text[],
      ${plain((r) => r.idempotency?.fingerprint ?? null)}::uuid[],
      ${text((r) => r.fullName)}::text[], ${text((r) => r.emailAddress)}::text[],
      ${text((r) => r.phoneNumber)}::text[], ${text((r) => r.gender)}::text[],
      ${text((r) => r.tableOrSeat)}::text[], ${text((r) => r.extraData1)}::text[],
      ${text((r) => r.extraData2)}::text[]
    ) with ordinality as input (
      ticket_id, event_id, partner_id, pass_code, attendee_digest, idempotency_key, fingerprint,
      full_name, email_address, phone_number, gender, table_or_seat, extra_data_1, extra_data_2, position
    )`;
}

/**
 * A condition that is always true and bounds how long its statement waits for a row (0: no bound). Postgres evaluates it
 * once, before it looks at a row. It holds for the transaction, so it works through a pooler.
 */
const lockTimeout = (withinMs: number) =>
  sql`(select set_config('lock_timeout', ${String(withinMs)}, true)) is not null`;

function lockTickets(reservations: readonly Reservation[], lockWithinMs: number) {
  // Each ticket with the event that it was asked for under: its id alone would lock another event's ticket.
  const tickets = [...new Map(reservations.map((r) => [`${r.ticketId} ${r.eventId}`, r])).values()];
  return sql`
    select id, event_id, capacity - taken as seats_left,
      active and coalesce(sale_starts_at <= now(), true) and coalesce(now() < sale_ends_at, true) as on_sale
    from tickets
    join unnest(${plainArray(tickets.map((r) => r.ticketId))}::integer[], ${plainArray(tickets.map((r) => r.eventId))}::integer[])
      as wanted (ticket_id, wanted_event_id) on id = ticket_id and event_id = wanted_event_id
    where ${lockTimeout(lockWithinMs)}
    order by id
    for no key update of tickets`;
}

const candidates = sql`
  select input.*, ticket.seats_left,
    row_number() over (partition by input.ticket_id order by input.position) as turn
  from input
  join ticket on ticket.id = input.ticket_id and ticket.event_id = input.event_id
  where ticket.on_sale
    and not exists (select from remembered where remembered.position = input.position)
    and not exists (select from duplicate where duplicate.position = input.position)`;

const insertRegistrations = (batchId: string, hasDigests: boolean) => sql`
  insert into registrations (
    batch_id, position, ticket_id, event_id, partner_id, pass_code, attendee_digest,
    full_name, email_address, phone_number, gender, table_or_seat, extra_data_1, extra_data_2
  )
  select ${batchId}::uuid, position, ticket_id, event_id, partner_id, pass_code, attendee_digest,
    full_name, email_address, phone_number, gender, table_or_seat, extra_data_1, extra_data_2
  from candidate
  where turn <= seats_left
  order by ${hasDigests ? sql`event_id, attendee_digest, ` : sql``}position
  returning position, serial, ticket_id`;

const countSeats = sql`
  update tickets
  set taken = taken + granted.seats
  from (select ticket_id, count(*)::integer as seats from registered group by ticket_id) granted
  where tickets.id = granted.ticket_id`;

const insertBatch = (batchId: string) => sql`
  insert into batches (id, size, first_serial, last_serial, relay_at)
  select ${batchId}::uuid, count(*), min(serial), max(serial),
    now() + make_interval(secs => ${RELAY_GRACE_SECONDS})
  from registered
  having count(*) > 0`;

// A remembered answer is given once more, and never made up: where its registration is gone, nobody knows its pass.
const outcomes = sql`
  select input.position, input.partner_id, input.event_id, input.idempotency_key, input.fingerprint,
    coalesce(remembered.serial, registered.serial) as serial,
    case when remembered.position is null then input.pass_code else remembered.pass_code end as pass_code,
    remembered.position is not null as replayed,
    case
      when not remembered.same_request then 'key-reused'
      when remembered.outcome = 'registered' and remembered.pass_code is null then 'failed'
      when remembered.position is not null then remembered.outcome
      when registered.position is not null then 'registered'
      when ticket.id is null then 'no-such-ticket'
      when not ticket.on_sale then 'not-on-sale'
      when duplicate.position is not null then 'duplicate'
      else 'sold-out'
    end as outcome
  from input
  left join remembered on remembered.position = input.position
  left join registered on registered.position = input.position
  left join duplicate on duplicate.position = input.position
  left join ticket on ticket.id = input.ticket_id and ticket.event_id = input.event_id`;

const rememberedAnswers = sql`
  select input.position, first.fingerprint = input.fingerprint as same_request,
    first.outcome, first.serial, registrations.pass_code
  from input
  join idempotency_keys first
    on first.partner_id = input.partner_id and first.event_id = input.event_id
    and first.key = input.idempotency_key
  left join registrations
    on registrations.serial = first.serial
    and registrations.partner_id = first.partner_id and registrations.event_id = first.event_id
  where first.created_at > now() - make_interval(hours => ${IDEMPOTENCY_RETENTION_HOURS}::integer)`;

const noRememberedAnswers = sql`
  select null::bigint as position, null::boolean as same_request, null::text as outcome,
    null::bigint as serial, null::bigint as pass_code
  where false`;

const rememberAnswers = sql`
  insert into idempotency_keys (partner_id, event_id, key, fingerprint, outcome, serial)
  select partner_id, event_id, idempotency_key, fingerprint, outcome, serial
  from outcome
  where idempotency_key is not null and not replayed
  order by partner_id, event_id, idempotency_key`;

const duplicates = sql`
  select input.position
  from input
  join registrations earlier
    on earlier.event_id = input.event_id and earlier.attendee_digest = input.attendee_digest
    and earlier.cancelled_at is null`;

const noDuplicates = sql`select null::bigint as position where false`;

function readOutcome(row: OutcomeRow): Outcome {
  const { outcome, serial, pass_code: passCode, replayed } = row;
  if (outcome === 'key-reused' || outcome === 'failed') return { kind: outcome };
  if (outcome !== 'registered') return { kind: outcome, replayed };
  if (serial === null || passCode === null) throw new Error('a registered outcome has no serial');
  return { kind: outcome, serial, passCode, replayed };
}
