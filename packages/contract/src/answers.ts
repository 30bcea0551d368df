import { Type, type Static } from '@sinclair/typebox';
import { Timestamp } from './formats.ts';

/** A ticket as partners see it: exactly these twelve fields, in this order. */
export const Ticket = Type.Object(
  {
    id: Type.Integer({ description: 'Send it as organizedEventTicketID when registering.', examples: [1] }),
    ticketTitle: Type.String({ description: 'Ticket name.', examples: ['Dinner'] }),
    ticketPrice: Type.Number({ description: 'Ticket price, a decimal.', examples: [49.5] }),
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
  { additionalProperties: false },
);

export type Ticket = Static<typeof Ticket>;

const STATES = ['reserved', 'confirmed', 'cancelled', 'failed'] as const;

const nullableTimestamp = (description: string) => Type.Union([Timestamp(description), Type.Null()]);

/** What a partner learns about one of its registrations. Holds nothing about the attendee. */
export const RegistrationStatus = Type.Object(
  {
    passReference: Type.String({ examples: ['GALA-1042-317-4829137450'] }),
    state: Type.Unsafe<(typeof STATES)[number]>({
      type: 'string',
      enum: STATES,
      examples: ['confirmed'],
      description:
        'reserved: the seat is held and finalization is under way. confirmed: finalized. ' +
        'failed: finalization gave up; the seat stays held. cancelled: the seat was released.',
    }),
    organizedEventID: Type.Integer({ examples: [1042] }),
    organizedEventTicketID: Type.Integer({ examples: [1] }),
    ticketTitle: Type.String({ examples: ['Dinner'] }),
    dateReserved: Timestamp('When the seat was reserved.'),
    dateFinalized: nullableTimestamp('When finalization confirmed the registration or gave up.'),
    dateCancelled: nullableTimestamp('When the registration was cancelled.'),
  },
  { additionalProperties: false },
);

export type RegistrationStatus = Static<typeof RegistrationStatus>;
