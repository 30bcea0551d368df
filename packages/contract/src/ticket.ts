import { Type, type Static } from '@sinclair/typebox';
import { Timestamp } from './timestamp.ts';

/** A ticket as partners see it: exactly these twelve fields, in this order. */
export const Ticket = Type.Object(
  {
    id: Type.Integer({ description: 'Send it as organizedEventTicketID when registering.' }),
    ticketTitle: Type.String({ description: 'Ticket name.' }),
    ticketPrice: Type.Number({ description: 'Ticket price, a decimal.' }),
    ticketBenefits: Type.String({ description: 'Free text describing the benefits.' }),
    activeStatus: Type.Boolean({ description: 'Whether the ticket is active.' }),
    organizedEventID: Type.Integer({ description: 'The event that the ticket belongs to.' }),
    organizedEvent: Type.Null({ description: 'Always null.' }),
    count: Type.Integer({ description: 'Seats that remain.' }),
    dateCreated: Timestamp('When the ticket was created.'),
    createdBy: Type.Integer({ description: 'Identifier of the creator.' }),
    lastModifiedBy: Type.String({ description: 'Who modified the ticket last.' }),
    lastModifiedDate: Timestamp('When the ticket was modified last.'),
  },
  { additionalProperties: false },
);

export type Ticket = Static<typeof Ticket>;
