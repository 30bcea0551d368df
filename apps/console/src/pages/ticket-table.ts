import type { DescribedTicket } from '@floodgate/tickets/console';
import { actions, bar, buttonLink, type Html, link, NOTHING, together, type Shown } from '../view/html.ts';
import { listing } from '../view/listing.ts';
import type { Format } from '../view/format.ts';
import type { Words } from '../words/index.ts';
import type { EventPageRequest } from './event-page.ts';

/** Returns the address of the page of a ticket. */
export const ticketPath = ({ id, eventId }: Pick<DescribedTicket, 'id' | 'eventId'>) =>
  `/events/${eventId}/tickets/${id}`;

/** Returns the button that adds a ticket. Nothing for an event that is called off: it sells no more. */
export const addTicketHtml = ({ event, action, operations, words }: EventPageRequest, kind?: 'primary') =>
  event.calledOffAt
    ? ''
    : actions(action(operations.ticketCreate, { eventId: event.id }, words.tickets.add, { kind }));

/** Returns the tickets of an event as a table, with what can be done about each. */
export function ticketTable(page: EventPageRequest, caption: string) {
  const { words, format, tickets, event } = page;
  const { tickets: texts } = words;
  const hasLists = tickets.some(({ waiting, offerHours }) => waiting > 0 || offerHours !== null);
  return listing({
    caption,
    things: tickets,
    empty: texts.none,
    format,
    columns: [
      { head: texts.ticket, cell: (ticket) => link(ticketPath(ticket), ticket.title) },
      { head: texts.price, cell: ({ price }) => format.money(price, event.currency), isNumber: true },
      { head: texts.sale, cell: (ticket) => saleText(ticket, words, format) },
      { head: texts.takenBar, cell: ({ taken, capacity }) => bar(taken, capacity) },
      { head: texts.seats, cell: (ticket) => seatsText(ticket, words, format), isNumber: true },
      hasLists && { head: texts.waiting, cell: waitingCell },
      !event.calledOffAt && {
        head: '',
        cell: (ticket) =>
          together(
            buttonLink(ticketPath(ticket), texts.change, { of: ticket.title }),
            switchAction(page, ticket, ticket.title),
          ),
      },
    ],
  });
}

const seatsText = ({ taken, capacity }: DescribedTicket, { eventList }: Words, format: Format) =>
  eventList.ofCapacity(format.number(taken), format.number(capacity));

/** A list that is switched off can still have people who wait. */
function waitingCell({ id, waiting, offerHours }: DescribedTicket): Shown {
  return waiting > 0 || offerHours !== null ? link(`/tickets/${id}/waiting-list`, waiting) : null;
}

/**
 * Returns the link that stops the sale of a ticket, or resumes it. An event that is called off sells no more.
 * `of`: the name of the ticket, where there are several.
 */
export function switchAction(
  { event, action, operations, words }: Pick<EventPageRequest, 'event' | 'action' | 'operations' | 'words'>,
  { id: ticketId, active }: DescribedTicket,
  of?: string,
): Html {
  const { tickets } = words;
  if (active)
    return action(operations.ticketUpdate, { ticketId, active: false }, tickets.stop, {
      part: 'switch',
      kind: 'danger',
      of,
    });
  if (event.calledOffAt || event.archivedAt) return NOTHING;
  return action(operations.ticketUpdate, { ticketId, active: true }, tickets.resume, { part: 'resume', of });
}

/** Returns in words whether a ticket is sold now, and since or until when. */
export function saleText(ticket: DescribedTicket, { tickets }: Words, format: Format, now = new Date()) {
  const { active, left, saleStartsAt, saleEndsAt } = ticket;
  if (!active) return tickets.stopped;
  if (saleEndsAt && saleEndsAt <= now) return tickets.endedAt(format.timeText(saleEndsAt));
  if (saleStartsAt && saleStartsAt > now) return tickets.opensAt(format.timeText(saleStartsAt));
  if (left <= 0) return tickets.soldOut;
  if (saleEndsAt) return tickets.until(format.timeText(saleEndsAt));
  return saleStartsAt ? tickets.since(format.timeText(saleStartsAt)) : tickets.always;
}
