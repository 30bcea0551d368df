import { formatTimestamp, type Ticket } from '@floodgate/contract';

/** Number of tickets in the benchmark's events for Get Tickets. */
export const LISTED_TICKETS = 4;

const at = formatTimestamp(new Date(0));

/** An answer to Get Tickets with the size of Floodgate's. */
export const exampleTickets: Ticket[] = Array.from({ length: LISTED_TICKETS }, (_, index) => ({
  id: index + 1,
  ticketTitle: 'Standing',
  ticketPrice: 0,
  ticketBenefits: '',
  activeStatus: true,
  organizedEventID: 1001,
  organizedEvent: null,
  count: 2_000_000_000,
  dateCreated: at,
  createdBy: 0,
  lastModifiedBy: 'test',
  lastModifiedDate: at,
}));
