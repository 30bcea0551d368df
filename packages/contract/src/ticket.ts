import { Type, type Static } from '@sinclair/typebox';
import { Timestamp } from './timestamp.ts';

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
