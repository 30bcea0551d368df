import { Type } from '@sinclair/typebox';
import { Id } from '@floodgate/audit';
import { performs, reads } from '@floodgate/operators';
import { createTicketAction, resumeSalesAction, stopSalesAction, updateTicketAction } from './actions.ts';
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
  performs(
    ['POST /events/{eventId}/tickets/stop-all', 'tickets:write', 'Take all tickets of an event off sale'],
    stopSalesAction,
  ),
  performs(
    [
      'POST /events/{eventId}/tickets/resume-all',
      'tickets:write',
      'Put the tickets on sale again that were taken off sale together',
    ],
    resumeSalesAction,
  ),
];
