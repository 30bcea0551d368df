import { Type, type Static } from '@sinclair/typebox';
import { closed, Flag, nullableTimestamp, oneOf, Text, Timestamp, Whole } from './fields.ts';

/** An event and one of its tickets. */
export const ticketOfEvent = {
  organizedEventID: Whole('The event.', 1042),
  organizedEventTicketID: Whole('The ticket.', 1),
};

/** Entries that a list returns unless its query says otherwise. */
export const DEFAULT_LIMIT = 100;

/** The end of a page. */
const pageEnd = {
  cursor: Text('Send it as `after` to continue, now or later. Treat it as opaque.', '100'),
  more: Flag(
    'Whether the next page can be read at once. A page can be short or empty although there is more.',
    false,
  ),
};

/** The data of Register For Event. */
export const PassReference = Text(
  'Pass reference of the attendee. Treat it as opaque.',
  'GALA-1042-317-4829137450',
  { title: 'PassReference' },
);

/** A ticket as partners see it: exactly these twelve fields, in this order. */
export const Ticket = closed('Ticket', {
  id: Whole('Send it as organizedEventTicketID when registering.', 1),
  ticketTitle: Text('Ticket name.', 'Dinner'),
  ticketPrice: Type.Number({
    description:
      'Ticket price, a decimal, in the currency that you agreed with the operator. The API names no currency.',
    examples: [49.5],
  }),
  ticketBenefits: Text('Free text describing the benefits.', 'Three courses and a seat at a table'),
  activeStatus: Flag('Whether the ticket is active.', true),
  organizedEventID: Whole('The event that the ticket belongs to.', 1042),
  organizedEvent: Type.Null({ description: 'Always null.' }),
  count: Whole('Number of seats left.', 120),
  dateCreated: Timestamp('When the ticket was created.'),
  createdBy: Whole('Identifier of the creator.', 1),
  lastModifiedBy: Text('The actor that last modified the ticket.', 'operator'),
  lastModifiedDate: Timestamp('When the ticket was last modified.'),
});

export type Ticket = Static<typeof Ticket>;

/** The state of a registration. Holds no attendee data. */
export const RegistrationStatus = closed('RegistrationStatus', {
  passReference: PassReference,
  state: oneOf(
    ['held', 'reserved', 'confirmed', 'cancelled', 'failed'],
    'held: the seat is yours until the hold expires or you confirm it. reserved: the seat is yours, and finalization follows. ' +
      'confirmed: finalized. failed: finalization failed, and the seat stays yours. cancelled: the seat was released.',
    'confirmed',
  ),
  ...ticketOfEvent,
  ticketTitle: Text('Ticket name.', 'Dinner'),
  dateReserved: Timestamp('When the seat was reserved.'),
  dateFinalized: nullableTimestamp(
    'When finalization confirmed the registration or failed; null before.',
    '2026-11-21T09:00:00.210+00:00',
  ),
  dateCancelled: nullableTimestamp('When the registration was cancelled; null if it was not.', null),
});

export type RegistrationStatus = Static<typeof RegistrationStatus>;

/** The state of the sale of an event. */
export const LaunchState = closed('LaunchState', {
  phase: oneOf(
    ['scheduled', 'open', 'soldOut', 'closed'],
    'scheduled: no ticket is on sale yet. open: seats are left. soldOut: the tickets on sale have no seats left. ' +
      'closed: no ticket is on sale any more.',
    'scheduled',
  ),
  opensAt: nullableTimestamp(
    'When the first ticket goes on sale; null if a ticket has no opening time.',
    '2026-11-21T10:00:00.000+00:00',
  ),
  closesAt: nullableTimestamp('When the last sale ends; null if a ticket has no end.', null),
  serverTime: Timestamp('The clock of the service, which decides.', '2026-11-21T09:59:57.412+00:00'),
  seatsLeft: Whole('Remaining seats of all tickets whose sale has not ended. At most 1 s old.', 120),
});

export type LaunchState = Static<typeof LaunchState>;

/** The progress of a reset. */
export const TestEventReset = closed('TestEventReset', {
  cancelled: Whole('Number of registrations that this call cancelled.', 42),
  more: Flag('Whether there is more to cancel. If so, repeat the call.', false),
});

/** A parameter of a query. It has no example: tools would send it. */
const parameter = (pattern: string, description: string) =>
  Type.Optional(Type.String({ pattern, description }));

/** How many of these a list returns. */
export const Limit = (of: string) =>
  parameter(
    '^(?:[1-9][0-9]{0,2}|1000)$',
    `Optional, the maximum number of ${of}, from 1 to 1000. Default: ${DEFAULT_LIMIT}`,
  );

/** Query of List Registrations. */
export const RegistrationListQuery = Type.Object({
  after: parameter(
    '^(?:0|[1-9][0-9]{0,14})$',
    'Optional, the cursor of the page before. Default: the list starts at the beginning',
  ),
  limit: Limit('entries'),
  state: Type.Optional(
    oneOf(
      ['confirmed', 'cancelled', 'failed'],
      'Optional, only entries of this state: confirmed, cancelled or failed',
    ),
  ),
});

/** A page of the changes of a partner's registrations, in order. */
export const RegistrationList = closed('RegistrationList', {
  registrations: Type.Array(RegistrationStatus, { description: 'The entries, oldest change first.' }),
  ...pageEnd,
});

/** The pass that lets an attendee in. */
export const AttendeePass = closed('AttendeePass', {
  passReference: PassReference,
  pass: Text(
    'The signed token that the QR code shows. It can be verified with the public keys alone.',
    // The key that signed it was thrown away.
    'FG2.000G00042800000100000000000JQ1G75J7V2OIRE6NQOTU3MNFU535K5HGVSU9BFJ1DKMEH58C7CNRQN2AOEN6AN896U0RR' +
      'QCMETBVHITLAONU27EFNGEPSAH27876EI410',
  ),
  keyID: Text('The `kid` of the key that signed the pass.', '1'),
  ...ticketOfEvent,
  validFrom: nullableTimestamp(
    'One day before the event begins, by its current times. Null: no start is set.',
    '2026-11-30T18:00:00.000+00:00',
  ),
  validUntil: nullableTimestamp(
    'One day after the event ends, by its current times. Null: no end is set.',
    '2026-12-02T22:00:00.000+00:00',
  ),
});

/** Query of List Revoked Passes. */
export const RevocationQuery = Type.Pick(RegistrationListQuery, ['after', 'limit']);

/** A page of revoked passes. */
export const RevokedPasses = closed('RevokedPasses', {
  revocations: Text(
    'A JWS (RFC 7515, compact, EdDSA). Its payload is JSON: `event`, `partner`, `after`, `cursor`, `more`, `serials`, `at`.',
    'eyJhbGciOiJFZERTQSIsImtpZCI6IjEiLCJ0eXAiOiJmbG9vZGdhdGUtcmV2b2NhdGlvbnMifQ.eyJldmVudCI6MTA0….3DRDn08sU9Hld…',
  ),
  ...pageEnd,
});

/** The event as doors need it. */
export const SignedEvent = closed('SignedEvent', {
  event: Text(
    'A JWS (RFC 7515, compact, EdDSA). Its payload is JSON: `event`, `eventRef`, `revision`, `name`, `venue`, `timeZone`, ' +
      '`startsAt`, `endsAt`, `validFrom`, `validUntil`, `at`.',
    'eyJhbGciOiJFZERTQSIsImtpZCI6IjEiLCJ0eXAiOiJmbG9vZGdhdGUtZXZlbnQifQ.eyJldmVudCI6MTA0….z0qw-E9RbelqG…',
  ),
  revision: Whole('Rises with every change of the event.', 3),
});
