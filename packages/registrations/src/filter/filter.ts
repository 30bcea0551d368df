import { Flag, Id, oneOf, text } from '@floodgate/audit';
import { typedAs } from '@floodgate/audit/input';
import { CONFIRMATION } from '@floodgate/events';
import { InvalidInput } from '@floodgate/service/failure';
import { assertFields } from '@floodgate/service/load-config';
import { Type, type Static } from '@sinclair/typebox';
import { sql, type RawBuilder } from 'kysely';
import { STATE } from '../status/find-registrations.ts';
import { digitsOf, hasDigits, hasInAddress, hasWords, wordsOf } from './people.ts';

export const STATES = ['held', 'reserved', 'confirmed', 'failed', 'cancelled'] as const;

/**
 * States of the e-mail with the pass. `none`: there is none, because e-mails are disabled, the registration
 * was cancelled before it was sent, or its row has expired. `waiting`: it is sent, or sent again, soon.
 */
export const MAIL_STATES = ['sent', 'waiting', 'undeliverable', 'suppressed', 'none'] as const;

const Instant = Type.Date({ description: 'a time such as 2026-11-21T09:00:00Z' });

/** The fields that say something about a person. They need the right to see attendees. */
export const PERSONAL_FIELDS = ['name', 'email', 'phone', 'partnerReference'] as const;

/**
 * Selects registrations of one event. A list, a count, an export and a job use the same filter. All given
 * fields must hold.
 */
export const RegistrationFilter = Type.Object({
  eventId: typedAs('--event', Id),
  partnerId: typedAs('--partner', Type.Optional(Id)),
  ticketId: typedAs('--ticket', Type.Optional(Id)),
  state: Type.Optional(oneOf(STATES)),
  /** Of the sale, inclusive. */
  soldFrom: Type.Optional(Instant),
  /** Of the sale, exclusive. */
  soldUntil: Type.Optional(Instant),
  /** Beginnings of words of the name. */
  name: Type.Optional(text(1, 255)),
  /** A part of the address. */
  email: Type.Optional(text(1, 254)),
  /** Digits of the phone number. */
  phone: Type.Optional(text(3, 64)),
  partnerReference: Type.Optional(text(1, 64)),
  mail: Type.Optional(oneOf(MAIL_STATES)),
  admitted: Type.Optional(Flag),
  /** The reason of the failed batch. */
  failure: Type.Optional(text(1, 64)),
});
export type RegistrationFilter = Static<typeof RegistrationFilter>;

/** Returns the fields that break a rule which the schema cannot express, each with its rule. */
export function checkFilter({
  soldFrom,
  soldUntil,
  name,
  phone,
}: RegistrationFilter): Record<string, string> {
  const isOrdered = soldFrom === undefined || soldUntil === undefined || soldFrom < soldUntil;
  return {
    ...(!isOrdered && { soldUntil: 'later than soldFrom' }),
    ...(name !== undefined && wordsOf(name).length === 0 && { name: 'at least one letter or digit' }),
    ...(phone !== undefined && digitsOf(phone).length < 3 && { phone: 'at least 3 digits' }),
  };
}

/** Returns the filter in fields from outside, which can be anything. Throws InvalidInput if one breaks a rule. */
export function filterOf(given: object): RegistrationFilter {
  assertFields(RegistrationFilter, given);
  assertFilter(given);
  return given;
}

/** Throws InvalidInput if a field breaks a rule. `maySeeAttendees` false: also if a field is about a person. */
export function assertFilter(filter: RegistrationFilter, maySeeAttendees = true) {
  const personal = PERSONAL_FIELDS.filter((field) => filter[field] !== undefined);
  const rules = maySeeAttendees
    ? checkFilter(filter)
    : Object.fromEntries(personal.map((field) => [field, 'only with the scope attendees:read']));
  if (Object.keys(rules).length > 0) throw new InvalidInput(rules);
}

/** Returns the filter in a fixed order and without other fields, as jobs and the audit log store it. */
export function storedFilter(filter: RegistrationFilter) {
  const fields = Object.keys(RegistrationFilter.properties) as (keyof RegistrationFilter)[];
  return Object.fromEntries(
    fields.flatMap((field) => (filter[field] === undefined ? [] : [[field, filter[field]]])),
  );
}

const ofBatch = (shardId: number, column: RawBuilder<unknown>) =>
  sql`(select ${column} from batches b where b.shard_id = ${shardId} and b.id = r.batch_id)`;

/** The state of a registration `r`. */
export const stateIn = (shardId: number) => ofBatch(shardId, STATE);

/** The state of the e-mail with the pass of a registration `r`. */
export const mailStateIn = (shardId: number, eventId: number) => sql<(typeof MAIL_STATES)[number]>`coalesce((
  select case when d.state in ('queued', 'sending', 'retry') then 'waiting'
    when d.state = 'cancelled' then 'none' else d.state end
  from deliveries d
  where d.shard_id = ${shardId} and d.event_id = ${eventId} and d.kind = ${CONFIRMATION}
    and d.subject = r.serial::text
), 'none')`;

/** Whether the seat of a registration `r` has let in a person. */
export const isAdmittedIn = (shardId: number) => sql<boolean>`exists (
  select from admissions a
  where a.shard_id = ${shardId} and a.seat = coalesce(r.seat, r.serial) and a.undone_at is null)`;

/** Returns the condition of a field, if the filter has it. */
const given = <Value>(value: Value | undefined, condition: (value: Value) => RawBuilder<unknown>) =>
  value === undefined ? [] : [condition(value)];

/**
 * Returns the condition of a filter on a registration `r` of this shard, the cheapest part first. It is the
 * only place that says what a filter means.
 */
export function conditionOf(filter: RegistrationFilter, shardId: number): RawBuilder<boolean> {
  const failure = ofBatch(shardId, sql`case when b.state = 'failed' then b.failure end`);
  const conditions = [
    sql`r.event_id = ${filter.eventId}`,
    ...given(filter.partnerId, (id) => sql`r.partner_id = ${id}`),
    ...given(filter.ticketId, (id) => sql`r.ticket_id = ${id}`),
    ...given(filter.soldFrom, (at) => sql`r.reserved_at >= ${at}`),
    ...given(filter.soldUntil, (at) => sql`r.reserved_at < ${at}`),
    ...given(filter.partnerReference, (reference) => sql`r.partner_reference = ${reference}`),
    ...given(filter.email, hasInAddress),
    ...given(filter.phone, hasDigits),
    ...given(filter.name, (name) => hasWords(name, shardId)),
    ...given(filter.state, (state) => sql`${stateIn(shardId)} = ${state}`),
    ...given(filter.failure, (code) => sql`${failure} = ${code}`),
    ...given(filter.admitted, (isAdmitted) => sql`${isAdmittedIn(shardId)} = ${isAdmitted}`),
    ...given(filter.mail, (state) => sql`${mailStateIn(shardId, filter.eventId)} = ${state}`),
  ];
  return sql<boolean>`(${sql.join(conditions, sql` and `)})`;
}
