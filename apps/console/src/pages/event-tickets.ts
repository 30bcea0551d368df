import { actions, card } from '../view/html.ts';
import { eventPage } from './event-page.ts';
import { ticketTable } from './ticket-table.ts';

/** Shows the tickets of an event. */
export const showTickets = eventPage('tickets', async (page) => {
  const { action, operations, params, words } = page;
  const { eventId } = params;
  const add = action(operations.ticketCreate, { eventId }, words.tickets.add, { kind: 'primary' });
  return {
    parts: [actions(add), card('', ticketTable(page, words.event.tabs.tickets))],
    help: 'operate/launch',
  };
});
