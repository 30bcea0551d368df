import { Id } from '@floodgate/audit';
import { operationsOn } from '@floodgate/operators';
import * as actions from './actions.ts';
import { describeTicket, listTickets } from './tickets.ts';

export { sumSeats } from './tickets.ts';

const { performs, reads } = operationsOn('tickets');

export const ticketOperations = [
  reads(
    'GET /events/{eventId}/tickets',
    'List the tickets of an event, on sale or not',
    'ticketList',
    { eventId: Id },
    async (db, { eventId }) => (await listTickets(db, eventId)).map(describeTicket),
  ),
  performs('POST /events/{eventId}/tickets', 'Add a ticket to an event', actions.createTicketAction),
  performs('PATCH /tickets/{ticketId}', 'Change the given settings of a ticket', actions.updateTicketAction),
  performs(
    'POST /events/{eventId}/tickets/stop-all',
    'Take all tickets of an event off sale',
    actions.stopSalesAction,
  ),
  performs(
    'POST /events/{eventId}/tickets/resume-all',
    'Put the tickets on sale again that were taken off sale together',
    actions.resumeSalesAction,
  ),
];
