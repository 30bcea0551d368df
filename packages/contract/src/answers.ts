import { Type, type Static } from '@sinclair/typebox';
import { closed, Flag, nullable, nullableTimestamp, oneOf, Text, Timestamp, Whole } from './fields.ts';

/** An event and one of its tickets. */
export const ticketOfEvent = {
  organizedEventID: Whole('Id of the event.', 1042),
  organizedEventTicketID: Whole('Id of the ticket.', 1),
};

/** Default number of entries in a page of a list. */
export const DEFAULT_LIMIT = 100;

/** The last fields of every page. */
const pageEnd = {
  cursor: Text('Send it as `after` to get the next page, now or later. Treat it as opaque.', '100'),
  more: Flag(
    'Whether the next page is available now. A page can be short or empty even if this is true.',
    false,
  ),
};

/** The data of Register For Event. */
export const PassReference = Text(
  'Pass reference of the attendee. Treat it as opaque.',
  'GALA-1042-317-4829137450',
  { title: 'PassReference' },
);

/** A ticket in the API: exactly these twelve fields, in this order. */
export const Ticket = closed('Ticket', {
  id: Whole('Id of the ticket. Send it as organizedEventTicketID to register.', 1),
  ticketTitle: Text('Ticket name.', 'Dinner'),
  ticketPrice: Type.Number({
    description:
      'Price as a decimal number, in the currency that you agreed on with the operator. The API does not name it.',
    examples: [49.5],
  }),
  ticketBenefits: Text('Description of the benefits.', 'Three courses and a seat at a table'),
  activeStatus: Flag('Whether the ticket is active.', true),
  organizedEventID: Whole('Id of the event that the ticket belongs to.', 1042),
  organizedEvent: Type.Null({ description: 'Always null.' }),
  count: Whole('Number of seats left.', 120),
  dateCreated: Timestamp('Creation time of the ticket.'),
  createdBy: Whole('Id of the creator.', 1),
  lastModifiedBy: Text('The actor that last modified the ticket.', 'operator'),
  lastModifiedDate: Timestamp('Time of the last modification.'),
});

export type Ticket = Static<typeof Ticket>;

/** The state of a registration. Holds no attendee data. */
export const RegistrationStatus = closed('RegistrationStatus', {
  passReference: PassReference,
  state: oneOf(
    ['held', 'reserved', 'confirmed', 'cancelled', 'failed'],
    'held: the seat is kept until the hold expires. To keep it longer, confirm the registration. ' +
      'reserved: the seat is taken, and ' +
      'finalization follows. confirmed: finalized. failed: finalization failed, and the seat stays ' +
      'taken. cancelled: the seat was released.',
    'confirmed',
  ),
  ...ticketOfEvent,
  ticketTitle: Text('Ticket name.', 'Dinner'),
  dateReserved: Timestamp('Time of the reservation.'),
  dateFinalized: nullableTimestamp(
    'Time at which finalization confirmed the registration or failed. null: not finalized.',
    '2026-11-21T09:00:00.210+00:00',
  ),
  dateCancelled: nullableTimestamp('Time of the cancellation. null: not cancelled.'),
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
    'Opening time of the first sale. null: a ticket has no opening time.',
    '2026-11-21T10:00:00.000+00:00',
  ),
  closesAt: nullableTimestamp('End of the last sale. null: the sale of a ticket has no end.'),
  serverTime: Timestamp('Current time of the service. Sales open and close by this clock.'),
  seatsLeft: Whole('Seats left on all tickets whose sale has not ended. At most 1 second old.', 120),
});

export type LaunchState = Static<typeof LaunchState>;

/** The progress of a reset. */
export const TestEventReset = closed('TestEventReset', {
  cancelled: Whole('Number of registrations that this call cancelled.', 42),
  more: Flag('Whether registrations are left to cancel. If true, repeat the call.', false),
});

/** An optional query parameter. It has no example, because tools would send the example. */
const parameter = (pattern: string, description: string) =>
  Type.Optional(Type.String({ pattern, description }));

/** The parameter `limit` of a list of the named items. */
export const Limit = (of: string) =>
  parameter(
    '^(?:[1-9][0-9]{0,2}|1000)$',
    `Optional, the maximum number of ${of}, from 1 to 1000. Default: ${DEFAULT_LIMIT}`,
  );

/** Query of List Registrations. */
export const RegistrationListQuery = Type.Object({
  after: parameter(
    '^(?:0|[1-9][0-9]{0,14})$',
    'Optional, the cursor of the previous page. Default: the beginning of the list',
  ),
  limit: Limit('entries'),
  state: Type.Optional(
    oneOf(
      ['confirmed', 'cancelled', 'failed'],
      'Optional, only entries of this state: confirmed, cancelled or failed',
    ),
  ),
  partnerReference: parameter(
    '^[^\\x00-\\x1f\\x7f]{1,64}$',
    'Optional, 1 to 64 characters. Lists the registrations with this reference of yours instead of ' +
      'changes: each once, as it is ' +
      'now, oldest first',
  ),
  include: Type.Optional(
    oneOf(['partnerReference'], 'Optional. `partnerReference` adds your own reference to each entry'),
  ),
});

/** A registration in a list. */
export const RegistrationEntry = closed('RegistrationEntry', {
  ...RegistrationStatus.properties,
  partnerReference: Type.Optional(
    nullable(
      'Your own reference. null: you sent none. Sent only if you ask for it with `include`.',
      'order-4711',
    ),
  ),
});

/** A page of the changes to a partner's registrations, in order. */
export const RegistrationList = closed('RegistrationList', {
  registrations: Type.Array(RegistrationEntry, { description: 'The entries, oldest change first.' }),
  ...pageEnd,
});

/** The pass of a confirmed registration. */
export const AttendeePass = closed('AttendeePass', {
  passReference: PassReference,
  pass: Text(
    'The signed token that the QR code contains. The public keys are enough to verify it.',
    // The private key of this example was deleted.
    'FG2.000G00042800000100000000000JQ1G75J7V2OIRE6NQOTU3MNFU535K5HGVSU9BFJ1DKMEH58C7CNRQN2AOEN6AN896U0RR' +
      'QCMETBVHITLAONU27EFNGEPSAH27876EI410',
  ),
  keyID: Text('The `kid` of the key that signed the pass.', '1'),
  ...ticketOfEvent,
  validFrom: nullableTimestamp(
    'Start of the validity: one day before the current start of the event. null: the event has no start.',
    '2026-11-30T18:00:00.000+00:00',
  ),
  validUntil: nullableTimestamp(
    'End of the validity: one day after the current end of the event. null: the event has no end.',
    '2026-12-02T22:00:00.000+00:00',
  ),
});

/** Query of List Revoked Passes. */
export const RevocationQuery = Type.Pick(RegistrationListQuery, ['after', 'limit']);

/** A page of revoked passes. */
export const RevokedPasses = closed('RevokedPasses', {
  revocations: Text(
    'A JWS (RFC 7515, compact, EdDSA). Its payload is JSON with `event`, `partner`, `after`, `cursor`, ' +
      '`more`, `serials` and `at`.',
    'eyJhbGciOiJFZERTQSIsImtpZCI6IjEiLCJ0eXAiOiJmbG9vZGdhdGUtcmV2b2NhdGlvbnMifQ.eyJldmVudCI6MTA0….3DRDn08sU9Hld…',
  ),
  ...pageEnd,
});

/** The signed event document for doors. */
export const SignedEvent = closed('SignedEvent', {
  event: Text(
    'A JWS (RFC 7515, compact, EdDSA). Its payload is JSON with `event`, `eventRef`, `revision`, `name`, ' +
      '`venue`, `timeZone`, ' +
      '`startsAt`, `endsAt`, `validFrom`, `validUntil` and `at`.',
    'eyJhbGciOiJFZERTQSIsImtpZCI6IjEiLCJ0eXAiOiJmbG9vZGdhdGUtZXZlbnQifQ.eyJldmVudCI6MTA0….z0qw-E9RbelqG…',
  ),
  revision: Whole('Increases with every change to the event.', 3),
});

const Admission = closed('Admission', {
  gate: Text('Name of the gate.', 'Main entrance'),
  device: Text('Name of the device that scanned the pass.', 'Scanner 3'),
  state: oneOf(
    ['admitted', 'again', 'undone'],
    'admitted: the person was let in. again: the person was let in although the pass was admitted ' +
      'before, by a device without ' +
      'network. undone: the scan was taken back.',
    'admitted',
  ),
  dateAdmitted: Timestamp('Time of the admission.'),
  dateLeft: nullableTimestamp('Time at which the person left. null: not known to have left.'),
});

/** The admissions of a registration. */
export const AdmissionList = closed('AdmissionList', {
  passReference: PassReference,
  admissions: Type.Array(Admission, { description: 'The admissions, oldest first.' }),
});
