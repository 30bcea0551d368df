import { Type } from '@sinclair/typebox';
import { answersOf, COMMON_FAILURES, formatTimestamp, success, Ticket } from '@floodgate/contract';
import { readThroughCache } from '@floodgate/database';
import { defineApi, type Routes } from '@floodgate/http';
import type { LRUCache } from 'lru-cache';
import { listAvailableTickets, type TicketRow } from './tickets.ts';

/** Lists what can be bought now. */
export const ticketsApi = defineApi({
  settings: {},
  open({ recent, shardReads }) {
    // The tickets of an event, kept as the very text of the answer until they are a second old.
    const tickets = readThroughCache(async (eventId: number, shardId: number, countFrom) => {
      const { value: rows, asOf } = await shardReads(shardId, () =>
        recent.read((db) => listAvailableTickets(db, eventId, shardId)),
      );
      countFrom(asOf);
      return JSON.stringify(success(rows.map(toTicket)));
    });
    return { routes: (api) => addTicketsRoute(api, tickets) };
  },
});

/** GET /events/tickets: lists what can be bought now. A body, if one is sent, is not read. */
function addTicketsRoute(api: Routes, tickets: LRUCache<number, string, number>): void {
  api.get(
    '/events/tickets',
    {
      schema: {
        operationId: 'getTickets',
        tags: ['Events'],
        summary: 'Get Tickets',
        description:
          'Lists the tickets of the event that are active, on sale and not sold out. At most 1 s old.',
        failures: COMMON_FAILURES,
        response: answersOf(Type.Array(Ticket)),
      },
    },
    (request, reply) => {
      const { eventId, shardId } = request.principal;
      // The list is cached as the text of the answer: what is text already, Fastify sends as it is. Sent, not returned:
      // a promise for what is at hand would be a good part of what this route costs.
      void reply.type('application/json; charset=utf-8');
      const text = tickets.get(eventId);
      if (text !== undefined) reply.send(text as never);
      else
        tickets.forceFetch(eventId, { context: shardId }).then(
          (read) => reply.send(read as never),
          (error) => reply.send(error as never),
        );
    },
  );
}

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
