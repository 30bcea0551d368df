import { Type } from '@sinclair/typebox';
import { Id } from '@floodgate/audit';
import { findEvent } from '@floodgate/events';
import { operationsOn } from '@floodgate/operators';
import * as actions from './actions.ts';
import { listAllocations } from './allocations.ts';
import { listPrices } from './prices.ts';
import { describeTicket, findTicket, listTickets } from './tickets.ts';

export { createTicketAction } from './actions.ts';
export * from './sale-seconds.ts';
export { readEventSales, saleOf, type SaleOfEvent } from './sale-of-event.ts';
export { findEventOfTicket, type DescribedTicket } from './tickets.ts';

const { actionOperation, queryOperation } = operationsOn('tickets');

export const ticketOperations = {
  ticketList: queryOperation(
    'GET /events/{eventId}/tickets',
    'List the tickets of an event, on sale or not',
    'ticketList',
    Type.Object({ eventId: Id }),
    async (db, { eventId }) => (await listTickets(db, eventId)).map(describeTicket),
  ),
  ticketShow: queryOperation(
    'GET /tickets/{ticketId}',
    'Show a ticket',
    'ticketShow',
    Type.Object({ ticketId: Id }),
    async (db, { ticketId }) => describeTicket(await findTicket(db, ticketId)),
  ),
  ticketAllocations: queryOperation(
    'GET /tickets/{ticketId}/allocations',
    'List the allocations of a ticket',
    'ticketAllocations',
    Type.Object({ ticketId: Id }),
    async (db, { ticketId }) => listAllocations(db, (await findTicket(db, ticketId)).shardId, [ticketId]),
  ),
  ticketPrices: queryOperation(
    'GET /tickets/{ticketId}/prices',
    'List the prices that a ticket had and has, oldest first',
    'ticketPrices',
    Type.Object({ ticketId: Id }),
    async (db, { ticketId }) => {
      const ticket = await findTicket(db, ticketId);
      const { currency } = await findEvent(db, ticket.eventId);
      return { ticketId, currency, prices: await listPrices(db, ticket) };
    },
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
