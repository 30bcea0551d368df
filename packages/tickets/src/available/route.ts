import { Type } from '@sinclair/typebox';
import { answersOf, COMMON_FAILURES, Ticket } from '@floodgate/contract';
import type { TicketList } from './ticket-list.ts';
import type { Routes } from '@floodgate/http';

/** GET /events/tickets: lists what can be bought now. A body, if one is sent, is not read. */
export function addTicketsRoute(api: Routes, tickets: TicketList): void {
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
      const { eventId } = request.principal;
      // The list is cached as the text of the answer: what is text already, Fastify sends as it is. Sent, not returned:
      // a promise for what is at hand would be a good part of what this route costs.
      void reply.type('application/json; charset=utf-8');
      const text = tickets.get(eventId);
      if (text !== undefined) reply.send(text as never);
      else
        tickets.forceFetch(eventId).then(
          (read) => reply.send(read as never),
          (error) => reply.send(error as never),
        );
    },
  );
}
