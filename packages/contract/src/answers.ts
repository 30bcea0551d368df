import { Type, type Static } from '@sinclair/typebox';
import { Timestamp } from './formats.ts';

// A title that is one word names the schema in the OpenAPI document, and so the type in generated clients.

/** What Register For Event answers. */
export const PassReference = Type.String({
  title: 'PassReference',
  description: 'Pass reference of the attendee. Treat it as opaque.',
  examples: ['GALA-1042-317-4829137450'],
});

/** A ticket as partners see it: exactly these twelve fields, in this order. */
export const Ticket = Type.Object(
  {
    id: Type.Integer({ description: 'Send it as organizedEventTicketID when registering.', examples: [1] }),
    ticketTitle: Type.String({ description: 'Ticket name.', examples: ['Dinner'] }),
    ticketPrice: Type.Number({
      description:
        'Ticket price, a decimal, in the currency that you agreed with the operator. The API names no currency.',
      examples: [49.5],
    }),
    ticketBenefits: Type.String({
      description: 'Free text describing the benefits.',
      examples: ['Three courses and a seat at a table'],
    }),
    activeStatus: Type.Boolean({ description: 'Whether the ticket is active.', examples: [true] }),
    organizedEventID: Type.Integer({
      description: 'The event that the ticket belongs to.',
      examples: [1042],
    }),
    organizedEvent: Type.Null({ description: 'Always null.' }),
    count: Type.Integer({ description: 'Seats that remain.', examples: [120] }),
    dateCreated: Timestamp('When the ticket was created.'),
    createdBy: Type.Integer({ description: 'Identifier of the creator.', examples: [1] }),
    lastModifiedBy: Type.String({ description: 'Who modified the ticket last.', examples: ['operator'] }),
    lastModifiedDate: Timestamp('When the ticket was modified last.'),
  },
  { title: 'Ticket', additionalProperties: false },
);

export type Ticket = Static<typeof Ticket>;

const STATES = ['held', 'reserved', 'confirmed', 'cancelled', 'failed'] as const;

/** The same, or null. */
export const nullableTimestamp = (description: string, example: string | null) =>
  Type.Union([Timestamp(description, example ?? undefined), Type.Null()], {
    description,
    examples: [example],
  });

/** What a partner learns about one of its registrations. Holds nothing about the attendee. */
export const RegistrationStatus = Type.Object(
  {
    passReference: PassReference,
    state: Type.Unsafe<(typeof STATES)[number]>({
      type: 'string',
      enum: STATES,
      examples: ['confirmed'],
      description:
        'held: the seat is yours until the hold expires or you confirm it. reserved: the seat is yours, and finalization follows. ' +
        'confirmed: finalized. failed: finalization failed, and the seat stays yours. cancelled: the seat was released.',
    }),
    organizedEventID: Type.Integer({ description: 'The event.', examples: [1042] }),
    organizedEventTicketID: Type.Integer({ description: 'The ticket.', examples: [1] }),
    ticketTitle: Type.String({ description: 'Ticket name.', examples: ['Dinner'] }),
    dateReserved: Timestamp('When the seat was reserved.'),
    dateFinalized: nullableTimestamp(
      'When finalization confirmed the registration or failed; null before.',
      '2026-11-21T09:00:00.210+00:00',
    ),
    dateCancelled: nullableTimestamp('When the registration was cancelled; null if it was not.', null),
  },
  { title: 'RegistrationStatus', additionalProperties: false },
);

export type RegistrationStatus = Static<typeof RegistrationStatus>;

/** How far the sale of an event is. */
export const LaunchState = Type.Object(
  {
    phase: Type.Unsafe<'scheduled' | 'open' | 'soldOut' | 'closed'>({
      type: 'string',
      enum: ['scheduled', 'open', 'soldOut', 'closed'],
      examples: ['scheduled'],
      description:
        'scheduled: no ticket is on sale yet. open: there are seats. soldOut: what is on sale has no seats left. ' +
        'closed: no ticket is on sale any more.',
    }),
    opensAt: nullableTimestamp(
      'When the first ticket goes on sale; null if a ticket has no opening time.',
      '2026-11-21T10:00:00.000+00:00',
    ),
    closesAt: nullableTimestamp('When the last sale ends; null if a ticket has no end.', null),
    serverTime: Timestamp('The time of the service. Its clock decides.', '2026-11-21T09:59:57.412+00:00'),
    seatsLeft: Type.Integer({
      examples: [120],
      description: 'Seats that remain on tickets whose sale is not over. At most 1 s old.',
    }),
  },
  { title: 'LaunchState', additionalProperties: false },
);

export type LaunchState = Static<typeof LaunchState>;

/** How far a test event was reset. */
export const TestEventReset = Type.Object(
  {
    cancelled: Type.Integer({
      description: 'How many registrations this call has cancelled.',
      examples: [42],
    }),
    more: Type.Boolean({
      description: 'Whether there is more to do. If so, ask again.',
      examples: [false],
    }),
  },
  { title: 'TestEventReset', additionalProperties: false },
);

export type TestEventReset = Static<typeof TestEventReset>;

/** The page of a partner's registrations that a caller asks for. */
export const RegistrationListQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      pattern: '^(?:0|[1-9][0-9]{0,14})$',
      description: 'Optional, the cursor of the page before; without it the list starts at the beginning',
    }),
  ),
  limit: Type.Optional(
    Type.String({
      pattern: '^(?:[1-9][0-9]{0,2}|1000)$',
      description: 'Optional, how many entries at most, from 1 to 1000; 100 where it is missing',
    }),
  ),
  state: Type.Optional(
    Type.Unsafe<'confirmed' | 'cancelled' | 'failed'>({
      type: 'string',
      enum: ['confirmed', 'cancelled', 'failed'],
      description: 'Optional, only entries of this state: confirmed, cancelled or failed',
    }),
  ),
});

/** A page of a partner's registrations: an entry for each change, in the order in which they happened. */
export const RegistrationList = Type.Object(
  {
    registrations: Type.Array(RegistrationStatus, { description: 'The entries, oldest change first.' }),
    cursor: Type.String({
      description: 'Send it as `after` to read on, now or later. Treat it as opaque.',
      examples: ['100'],
    }),
    more: Type.Boolean({
      description: 'Whether to ask again at once. A page may be short, or empty, although there is more.',
      examples: [false],
    }),
  },
  { title: 'RegistrationList', additionalProperties: false },
);

export type RegistrationList = Static<typeof RegistrationList>;

// Signed with a key that nobody has any more.
const EXAMPLE_PASS =
  'FG1.000G00042800000100000000000JQQODN6G6M44KS03R7PLGS856JQNEGKCEUGDJ5UGMSLGP823J311S0R0FDBH10EEKBUME' +
  '7P7GEFGRNVNCQT4PR9P1B0C7RDNP3JPOT3D55CQVRIHVPI0B';
const EXAMPLE_LIST =
  'eyJhbGciOiJFZERTQSIsImtpZCI6IjEiLCJ0eXAiOiJmbG9vZGdhdGUtcmV2b2NhdGlvbnMifQ.eyJldmVudCI6MTA0MiwicGFyd' +
  'G5lciI6NywiYWZ0ZXIiOiIwIiwiY3Vyc29yIjoiMTAwIiwibW9yZSI6ZmFsc2UsInNlcmlhbHMiOlszMTddLCJhdCI6IjIwMjYtM' +
  'TItMDFUMTc6MDA6MDAuMDAwWiJ9.RjT62RnSSTBp-Ykjyg9VI_XO2A36oBmU5rRIOKsE083-DJZW4E0GftnJea2zZnddpzZ-tgW4' +
  '_YBooOAT9irFAQ';

/** The pass that lets an attendee in. */
export const AttendeePass = Type.Object(
  {
    passReference: PassReference,
    pass: Type.String({
      description:
        'The pass itself: a signed token, which the QR code shows as it is. Anybody can verify it, without asking.',
      examples: [EXAMPLE_PASS],
    }),
    keyID: Type.String({ description: '`kid` of the key that signed it.', examples: ['1'] }),
    organizedEventID: Type.Integer({ description: 'The event.', examples: [1042] }),
    organizedEventTicketID: Type.Integer({ description: 'The ticket.', examples: [1] }),
    validFrom: nullableTimestamp(
      'From when on the pass is valid, a day before the event begins; null where that is not known.',
      '2026-11-30T18:00:00.000+00:00',
    ),
    validUntil: nullableTimestamp(
      'Until when it is valid, a day after the event ends; null where that is not known.',
      '2026-12-02T22:00:00.000+00:00',
    ),
  },
  { title: 'AttendeePass', additionalProperties: false },
);

export type AttendeePass = Static<typeof AttendeePass>;

/** The page of revoked passes that a caller asks for. */
export const RevocationQuery = Type.Pick(RegistrationListQuery, ['after', 'limit']);

/** A page of revoked passes. */
export const RevokedPasses = Type.Object(
  {
    revocations: Type.String({
      description:
        'A JWS (RFC 7515, compact, EdDSA). Its payload is JSON: `event`, `partner`, `after`, `cursor`, `more`, `serials`, `at`.',
      examples: [EXAMPLE_LIST],
    }),
    cursor: Type.String({
      description: 'Send it as `after` to read on, now or later. Treat it as opaque.',
      examples: ['100'],
    }),
    more: Type.Boolean({
      description: 'Whether to ask again at once. A page may be short, or empty, although there is more.',
      examples: [false],
    }),
  },
  { title: 'RevokedPasses', additionalProperties: false },
);

export type RevokedPasses = Static<typeof RevokedPasses>;
