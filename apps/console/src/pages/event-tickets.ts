import { card } from '../view/html.ts';
import { eventPage } from './event-page.ts';
import { addTicketHtml, ticketTable } from './ticket-table.ts';

/** Shows the tickets of an event. */
export const showTickets = eventPage('tickets', async (page) => {
  const table = card('', ticketTable(page, page.words.event.tabs.tickets));
  return {
    parts: [addTicketHtml(page, 'primary'), table],
    help: 'operate/launch',
  };
});
