import { STATES } from '@floodgate/waiting-list/console';
import type { Show } from '../add-page.ts';
import { actions, address, buttonLink, card, link, NOTHING } from '../view/html.ts';
import { listing } from '../view/listing.ts';
import { partnerNames, partnerShown } from './allocations.ts';
import { eventHead } from './event-page.ts';
import { ticketPath } from './ticket-table.ts';

/** Shows who waits for a ticket, in the order in which they joined. */
export const showWaitingList: Show = async (page) => {
  const { operations, params, query, read, words, format } = page;
  const { ticketId } = params;
  const state = STATES.find((one) => one === query['state']);
  const ticket = (await read(operations.ticketShow, { ticketId }))!;
  const { eventId } = ticket;
  const [event, tickets = [], sellers = []] = await Promise.all([
    read(operations.eventShow, { eventId }),
    read(operations.ticketList, { eventId }),
    read(operations.eventPartners, { eventId }),
  ]);
  const { entries, cursor, more } = (await read(operations.waitingList, {
    ticketId,
    after: query['after'],
    state,
  }))!;
  const names = await partnerNames({ ...page, sellers });
  const { waitingList } = words;
  const path = `/tickets/${ticketId}/waiting-list`;
  const table = listing({
    caption: waitingList.title(ticket.title),
    things: entries,
    empty: waitingList.none,
    format,
    columns: [
      { head: waitingList.place, cell: ({ position }) => position },
      { head: words.sellers.partner, cell: ({ partnerId }) => partnerShown(page, partnerId, names) },
      { head: waitingList.seats, cell: ({ seats }) => seats },
      { head: waitingList.state, cell: (entry) => waitingList.states[entry.state] },
      { head: waitingList.reference, cell: ({ partnerReference }) => partnerReference },
      { head: waitingList.joined, cell: ({ dateJoined }) => format.time(new Date(dateJoined)) },
      {
        head: waitingList.expires,
        cell: ({ dateExpires }) => (dateExpires ? format.time(new Date(dateExpires)) : null),
      },
      { head: waitingList.skipped, cell: ({ skipped }) => skipped },
    ],
  });
  return {
    ...(event ? eventHead(page, event, tickets, 'tickets', sellers) : {}),
    title: waitingList.title(ticket.title),
    about: waitingList.about,
    chips: NOTHING,
    path: [
      link('/', words.shell.pages.events),
      link(`/events/${eventId}`, event?.name ?? String(eventId)),
      link(ticketPath(ticket), ticket.title),
    ],
    actions: [
      page.action(operations.ticketUpdate, { ticketId }, words.tickets.changeWaiting, { part: 'waiting' }),
    ],
    parts: [
      actions(
        state ? buttonLink(path, words.shell.all) : NOTHING,
        ...STATES.filter((one) => one !== state).map((one) =>
          buttonLink(address(path, { state: one }), waitingList.states[one]),
        ),
      ),
      card('', table),
      actions(more ? buttonLink(address(path, { after: cursor, state }), words.shell.next) : NOTHING),
    ],
    help: 'operate/waiting-list',
  };
};
