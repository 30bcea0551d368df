import { Type } from '@sinclair/typebox';
import { Id } from '@floodgate/audit';
import { performs, reads } from '@floodgate/operators';
import { createTicketAction, updateTicketAction } from './actions.ts';
import { describeTicket, listTickets } from './tickets.ts';

export { sumSeats } from './tickets.ts';

export const ticketOperations = [
  reads(
    ['GET /events/{eventId}/tickets', 'tickets:read', 'List the tickets of an event, on sale or not'],
    'ticketList',
    Type.Object({ eventId: Id }),
    async ({ db }, { eventId }) => (await listTickets(db, eventId)).map(describeTicket),
  ),
  performs(
    ['POST /events/{eventId}/tickets', 'tickets:write', 'Add a ticket to an event'],
    createTicketAction,
  ),
  performs(
    ['PATCH /tickets/{ticketId}', 'tickets:write', 'Change the given settings of a ticket'],
    updateTicketAction,
  ),
];
