import { formatTimestamp, type Ticket } from '@floodgate/contract';

/** As many tickets as the events of the benchmark have where tickets are listed. */
export const LISTED_TICKETS = 4;

const at = formatTimestamp(new Date(0));

/** An answer to Get Tickets of the size that Floodgate gives. */
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
