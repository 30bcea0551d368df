import type { FastifyInstance } from 'fastify';
import { adder } from '../add-page.ts';
import type { ConsoleContext } from '../operations.ts';
import { showEvents } from './event-list.ts';
import { showEvent } from './event-overview.ts';
import { showPartners } from './event-partners.ts';
import { showSettings } from './event-settings.ts';
import { showTickets } from './event-tickets.ts';
import { showTicket } from './ticket-page.ts';
import { showWaitingList } from './waiting-list.ts';

/** Adds the pages of events, their tickets, partners and settings. */
export function addEventPages(app: FastifyInstance, context: ConsoleContext) {
  const add = adder(app, context);
  add('/', ['events:read'], showEvents);
  add('/events/:eventId', ['events:read'], showEvent);
  add('/events/:eventId/tickets', ['tickets:read'], showTickets);
  add('/events/:eventId/tickets/:ticketId', ['events:read', 'tickets:read'], showTicket);
  add('/events/:eventId/partners', ['events:read'], showPartners);
  add('/events/:eventId/settings', ['events:read'], showSettings);
  add('/tickets/:ticketId/waiting-list', ['tickets:read'], showWaitingList);
}
