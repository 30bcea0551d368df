import { Type } from '@sinclair/typebox';
import {
  answersOf,
  COMMON_FAILURES,
  formatTimestamp,
  LaunchState,
  success,
  Ticket,
} from '@floodgate/contract';
import { readThroughCache } from '@floodgate/database';
import { defineApi, type ApiContext, type Routes } from '@floodgate/http';
import { launchStateAt, readLaunch } from './launch.ts';
import { listAvailableTickets, type TicketRow } from './tickets.ts';

/** Lists what can be bought now. */
export const ticketsApi = defineApi({
  settings: {},
  open: (context) => ({
    routes(api) {
      addTicketsRoute(api, context);
      addLaunchRoute(api, context);
    },
  }),
});

/** GET /events/tickets: lists what can be bought now. A body, if one is sent, is not read. */
function addTicketsRoute(api: Routes, { reads, shardReads }: ApiContext): void {
  // The tickets of an event, kept as the text of the answer until they are a second old.
  const tickets = readThroughCache(async (eventId: number, shardId: number) => {
    const rows = await shardReads(shardId, () => listAvailableTickets(reads, eventId, shardId));
    return JSON.stringify(success(rows.map(toTicket)));
  });
  api.get(
    '/events/tickets',
    {
      schema: {
        operationId: 'getTickets',
        tags: ['Tickets'],
        summary: 'Get Tickets',
        description:
          'Lists the tickets of the event that are active, on sale and not sold out. At most 1 s old.',
        failures: COMMON_FAILURES,
        response: answersOf(Type.Array(Ticket)),
      },
    },
    ({ principal: { eventId, shardId } }, reply) => {
      // The list is cached as the text of the answer: what is text already, Fastify sends as it is. Sent, not returned:
      // a promise for what is at hand would be a good part of what this route costs.
      void reply.type('application/json; charset=utf-8');
      const text = tickets.get(eventId);
      if (text !== undefined) reply.send(text as never);
      else {
        const send = (answer: unknown) => void reply.send(answer as never);
        tickets.forceFetch(eventId, { context: shardId }).then(send, send);
      }
    },
  );
}

/** GET /events/launch: how far the sale is, so that nobody has to try to register before it opens. */
function addLaunchRoute(api: Routes, { reads, shardReads }: ApiContext): void {
  const launches = readThroughCache(async (eventId: number, shardId: number) => {
    const launch = await shardReads(shardId, () => readLaunch(reads, eventId, shardId));
    return { ...launch, receivedAt: performance.now() };
  });
  api.get(
    '/events/launch',
    {
      schema: {
        operationId: 'getLaunch',
        tags: ['Tickets'],
        summary: 'Get Launch',
        description: 'Tells whether the sale is open, when it opens and closes, and how many seats are left.',
        failures: COMMON_FAILURES,
        response: answersOf(LaunchState),
      },
    },
    async ({ principal: { eventId, shardId } }) => {
      const launch = launches.get(eventId) ?? (await launches.forceFetch(eventId, { context: shardId }));
      // The age of the cached state is added, so that the opening is not a second late. It is never early.
      const moment = launch.readAt + performance.now() - launch.receivedAt;
      const { phase, opensAt, closesAt, seatsLeft } = launchStateAt(launch.tickets, moment);
      return success({
        phase,
        opensAt: formatMoment(opensAt),
        closesAt: formatMoment(closesAt),
        serverTime: formatTimestamp(new Date(moment)),
        seatsLeft,
      });
    },
  );
}

const formatMoment = (moment: number | null) => (moment === null ? null : formatTimestamp(new Date(moment)));

/** A ticket in the order and types that partners were promised. */
function toTicket(row: TicketRow): Ticket {
  return {
    id: row.id,
    ticketTitle: row.title,
    ticketPrice: row.price,
    ticketBenefits: row.benefits,
    activeStatus: row.active,
    organizedEventID: row.event_id,
    organizedEvent: null,
    count: row.capacity - row.taken,
    dateCreated: formatTimestamp(row.created_at),
    createdBy: row.created_by,
    lastModifiedBy: row.last_modified_by,
    lastModifiedDate: formatTimestamp(row.last_modified_at),
  };
}
