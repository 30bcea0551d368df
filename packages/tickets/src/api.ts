import { defineApi } from '@floodgate/http';
import { addTicketsRoute } from './available/route.ts';
import { TicketList } from './available/ticket-list.ts';

/** Lists what can be bought now. */
export const ticketsApi = defineApi({
  settings: {},
  open({ reads }) {
    const tickets = new TicketList(reads);
    return { routes: (api) => addTicketsRoute(api, tickets) };
  },
});
