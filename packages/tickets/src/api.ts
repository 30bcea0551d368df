import { Type } from '@sinclair/typebox';
import {
  answering,
  COMMON_FAILURES,
  formatTimestamp,
  LaunchState,
  success,
  Ticket,
} from '@floodgate/contract';
import { readThroughCache } from '@floodgate/database';
import { defineApi, type ApiContext, type Routes } from '@floodgate/http';
import { systemClock } from '@floodgate/service';
import { isAvailable, launchStateAt, seatsLeft } from './launch.ts';
import { asSeenBy, listAllocations } from './allocations.ts';
import { DEFAULT_AUTHOR, readSale, readSeatsLeft, type Ticket as StoredTicket } from './tickets.ts';

/** Each ticket is a series of the metrics. */
const MAX_LISTED_TICKETS = 50;

/** Lists available tickets and reports the state of the sale. */
export const ticketsApi = defineApi({
  open(context) {
    const sales = rememberSales(context);
    context.metrics?.figures(() => readSeatsLeft(context.reads, MAX_LISTED_TICKETS), {
      seats_left: {
        help: 'Seats left of the tickets on sale, of those with the fewest; not more than 50',
        labels: ['event', 'ticket'],
        samples: (tickets) => tickets.map(({ eventId, id, left }) => [{ event: eventId, ticket: id }, left]),
      },
    });
    return { routes: (api) => addRoutes(api, sales, context.clock) };
  },
});

/** Returns a cache of the sales of events. An entry is at most a second old. */
const rememberSales = ({ reads, shardReads, clock = systemClock }: ApiContext) => {
  const read = async (eventId: number, shardId: number) => {
    const tickets = await shardReads(shardId, () => readSale(reads, eventId, shardId));
    // Postgres's clock decides. Without tickets, any clock will do.
    const readAt = tickets[0]?.readAt ?? new Date();
    const allocated = tickets.filter((ticket) => ticket.allocated).map(({ id }) => id);
    const allocations =
      allocated.length > 0 ? await shardReads(shardId, () => listAllocations(reads, shardId, allocated)) : [];
    const describe = (partnerId: number) => {
      const seen = tickets.map((ticket) => asSeenBy(partnerId, ticket, allocations));
      const available = seen.filter((ticket) => isAvailable(ticket, readAt));
      return { text: JSON.stringify(success(available.map(toTicket))), tickets: seen };
    };
    const views = new Map<number, ReturnType<typeof describe>>();
    return {
      /**
       * Returns the list of a partner, as text and as tickets. Without allocations, all partners have the
       * same.
       */
      viewOf: (partnerId: number) => {
        const viewer = allocations.length > 0 ? partnerId : EVERYBODY;
        return views.getOrInsertComputed(viewer, describe);
      },
      readAt: readAt.getTime(),
      receivedAt: clock.now(),
    };
  };
  return readThroughCache(read, undefined, clock);
};

/** The viewer of an event without allocations. */
const EVERYBODY = 0;

/**
 * GET /events/tickets lists available tickets. It does not read a body. GET /events/launch reports the state
 * of the sale, so that partners do not have to try to register before it opens.
 */
function addRoutes(api: Routes, sales: ReturnType<typeof rememberSales>, clock = systemClock) {
  api.get(
    '/events/tickets',
    {
      schema: {
        operationId: 'getTickets',
        ...answering('Tickets', Type.Array(Ticket), COMMON_FAILURES),
        summary: 'Get Tickets',
        description:
          'Lists the tickets of the event that are active, on sale and not sold out for you. ' +
          'The list is at most 1 s old.',
      },
    },
    ({ principal: { eventId, shardId, partnerId } }, reply) => {
      // The cache holds the text of the answer, which Fastify sends unchanged. It is sent and not returned: a
      // promise would be a large part of the cost of this route.
      void reply.type('application/json; charset=utf-8');
      const sale = sales.get(eventId);
      const send = (answer: unknown) => void reply.send(answer as never);
      if (sale) return send(sale.viewOf(partnerId).text);
      const read = sales.forceFetch(eventId, { context: shardId });
      return void read.then(({ viewOf }) => send(viewOf(partnerId).text), send);
    },
  );
  api.get(
    '/events/launch',
    {
      schema: {
        operationId: 'getLaunch',
        ...answering('Tickets', LaunchState, COMMON_FAILURES),
        summary: 'Get Launch',
        description:
          'Reports whether the sale is open, when it opens and closes, and how many seats are left.',
      },
    },
    async ({ principal: { eventId, shardId, partnerId } }) => {
      const sale = sales.get(eventId) ?? (await sales.forceFetch(eventId, { context: shardId }));
      // The age of the cached state is added, so that the opening is not a second late. It is never early.
      const moment = new Date(sale.readAt + clock.now() - sale.receivedAt);
      const { opensAt, closesAt, ...state } = launchStateAt(sale.viewOf(partnerId).tickets, moment);
      return success({
        ...state,
        opensAt: opensAt && formatTimestamp(opensAt),
        closesAt: closesAt && formatTimestamp(closesAt),
        serverTime: formatTimestamp(moment),
      });
    },
  );
}

/** Returns a ticket with the field order and types of the contract. */
function toTicket(ticket: StoredTicket): Ticket {
  return {
    id: ticket.id,
    ticketTitle: ticket.title,
    ticketPrice: ticket.price,
    ticketBenefits: ticket.benefits,
    activeStatus: ticket.active,
    organizedEventID: ticket.eventId,
    organizedEvent: null,
    count: seatsLeft(ticket),
    dateCreated: formatTimestamp(ticket.createdAt),
    createdBy: 0,
    // Earlier releases stored whom --by named, which can be a person's address.
    lastModifiedBy: ticket.lastModifiedBy.includes('@') ? DEFAULT_AUTHOR : ticket.lastModifiedBy,
    lastModifiedDate: formatTimestamp(ticket.lastModifiedAt),
  };
}
