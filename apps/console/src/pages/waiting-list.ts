import { STATES } from '@floodgate/waiting-list/console';
import type { PageRequest, Show } from '../add-page.ts';
import type { Operations } from '../operations.ts';
import { actions, address, buttonLink, card, link, NOTHING } from '../view/html.ts';
import { listing } from '../view/listing.ts';
import { partnerShown } from './allocations.ts';
import { partnerNames } from './names.ts';
import { eventHead } from './event-page.ts';
import { ticketPath } from './ticket-table.ts';

type Entry = Awaited<ReturnType<Operations['waitingList']>>['entries'][number];

/** Shows who waits for a ticket, in the order in which they joined. */
export const showWaitingList: Show = async (page) => {
  const { operations, params, query, read, words } = page;
  const { ticketId } = params;
  const { waitingList } = words;
  const state = STATES.find((one) => one === query['state']);
  const ticket = (await read(operations.ticketShow, { ticketId }))!;
  const { eventId } = ticket;
  const [event, tickets = [], sellers = [], list] = await Promise.all([
    read(operations.eventShow, { eventId }),
    read(operations.ticketList, { eventId }),
    read(operations.eventPartners, { eventId }),
    read(operations.waitingList, { ticketId, after: query['after'], state }),
  ]);
  const { entries, cursor, more } = list!;
  const title = waitingList.title(ticket.title);
  const path = `/tickets/${ticketId}/waiting-list`;
  const others = STATES.filter((one) => one !== state);
  const names = await partnerNames(page, [eventId]);
  return {
    ...(event ? eventHead(page, event, tickets, 'tickets', sellers) : {}),
    title,
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
        ...others.map((one) => buttonLink(address(path, { state: one }), waitingList.states[one])),
      ),
      card('', entriesHtml(page, title, entries, names)),
      actions(more ? buttonLink(address(path, { after: cursor, state }), words.shell.next) : NOTHING),
    ],
    help: 'operate/waiting-list',
  };
};

function entriesHtml(
  page: PageRequest,
  caption: string,
  entries: readonly Entry[],
  names: ReadonlyMap<number, string>,
) {
  const { words, format } = page;
  const { waitingList } = words;
  const timeOf = (text: string | null) => (text === null ? null : format.time(new Date(text)));
  return listing({
    caption,
    things: entries,
    empty: waitingList.none,
    format,
    columns: [
      { head: waitingList.place, cell: ({ position }) => position },
      { head: words.sellers.partner, cell: ({ partnerId }) => partnerShown(page, partnerId, names) },
      { head: waitingList.seats, cell: ({ seats }) => seats },
      { head: waitingList.state, cell: (entry) => waitingList.states[entry.state] },
      { head: waitingList.reference, cell: ({ partnerReference }) => partnerReference },
      { head: waitingList.joined, cell: ({ dateJoined }) => timeOf(dateJoined) },
      { head: waitingList.expires, cell: ({ dateExpires }) => timeOf(dateExpires) },
      { head: waitingList.skipped, cell: ({ skipped }) => skipped },
    ],
  });
}
