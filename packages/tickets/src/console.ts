import { Type } from '@sinclair/typebox';
import { Id } from '@floodgate/audit';
import { operationsOn } from '@floodgate/operators';
import * as actions from './actions.ts';
import { listAllocations } from './allocations.ts';
import { describeTicket, findTicket, listTickets } from './tickets.ts';

export { findEventOfTicket, sumSeats, type DescribedTicket } from './tickets.ts';

const { actionOperation, queryOperation } = operationsOn('tickets');

export const ticketOperations = {
  ticketList: queryOperation(
    'GET /events/{eventId}/tickets',
    'List the tickets of an event, on sale or not',
    'ticketList',
    Type.Object({ eventId: Id }),
    async (db, { eventId }) => (await listTickets(db, eventId)).map(describeTicket),
  ),
  ticketAllocations: queryOperation(
    'GET /tickets/{ticketId}/allocations',
    'List the allocations of a ticket',
    'ticketAllocations',
    Type.Object({ ticketId: Id }),
    async (db, { ticketId }) => listAllocations(db, (await findTicket(db, ticketId)).shardId, [ticketId]),
  ),
  ticketCreate: actionOperation(
    'POST /events/{eventId}/tickets',
    'Add a ticket to an event',
    actions.createTicketAction,
  ),
  ticketUpdate: actionOperation(
    'PATCH /tickets/{ticketId}',
    'Change the given settings of a ticket',
    actions.updateTicketAction,
  ),
  ticketAllocate: actionOperation(
    'PUT /tickets/{ticketId}/allocations/{partnerId}',
    'Reserve seats of a ticket for a partner, or limit how many it may sell',
    actions.allocateTicketAction,
  ),
  ticketStopAll: actionOperation(
    'POST /events/{eventId}/tickets/stop-all',
    'Take all tickets of an event off sale',
    actions.stopSalesAction,
  ),
  ticketResumeAll: actionOperation(
    'POST /events/{eventId}/tickets/resume-all',
    'Put the tickets on sale again that were taken off sale together',
    actions.resumeSalesAction,
  ),
};
