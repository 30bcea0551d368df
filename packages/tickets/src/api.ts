import { defineApi } from '@floodgate/http';
import { addTicketsRoute } from './available/route.ts';
import { ticketList } from './available/ticket-list.ts';

/** Lists what can be bought now. */
export const ticketsApi = defineApi({
  settings: {},
  open({ reads }) {
    const tickets = ticketList(reads);
    return { routes: (api) => addTicketsRoute(api, tickets) };
  },
});
