import type { Event, Seller } from '@floodgate/events/console';
import { saleOf, type DescribedTicket } from '@floodgate/tickets/console';
import { html } from 'ghtml';
import type { PageRequest, Show } from '../add-page.ts';
import type { Format } from '../view/format.ts';
import { buttonLink, chip, Html, link, NOTHING, together } from '../view/html.ts';
import type { Page, Tab } from '../view/page.ts';
import type { Words } from '../words/index.ts';
import { saleChip } from './event-state.ts';

/** The pages of an event, in the order of their tabs. Each has the scope that it requires. */
const TABS = {
  overview: ['', 'events:read'],
  tickets: ['/tickets', 'tickets:read'],
  attendees: ['/attendees', 'attendees:read'],
  partners: ['/partners', 'events:read'],
  messages: ['/messages', 'mail:read'],
  door: ['/door', 'door:read'],
  reports: ['/reports', 'registrations:read'],
  settings: ['/settings', 'events:read'],
} as const;

type EventTab = keyof typeof TABS;

/** The context of a page of an event. */
export interface EventPageRequest extends PageRequest {
  event: Event;
  tickets: readonly DescribedTicket[];
  /** The partners that may sell it. */
  sellers: readonly Seller[];
}

/** Resolves to the context of a page of an event. */
export async function ofEvent(page: PageRequest): Promise<EventPageRequest> {
  const { read, operations, params } = page;
  const { eventId } = params;
  const event = (await read(operations.eventShow, { eventId }))!;
  const [tickets = [], sellers = []] = await Promise.all([
    read(operations.ticketList, { eventId }),
    read(operations.eventPartners, { eventId }),
  ]);
  return { ...page, event, tickets, sellers };
}

/** Returns a page of an event: with its head, its tabs, and what `show` returns. */
export const eventPage =
  (tab: EventTab, show: (page: EventPageRequest) => Promise<Pick<Page, 'parts'> & Partial<Page>>): Show =>
  async (request) => {
    const page = await ofEvent(request);
    const head = eventHead(page, page.event, page.tickets, tab, page.sellers);
    return { ...head, ...(await show(page)) };
  };

/** Returns the head of the pages of an event. */
export function eventHead(
  { words, format, may, action, operations }: PageRequest,
  event: Event,
  tickets: readonly DescribedTicket[],
  current: EventTab | undefined,
  sellers?: readonly Seller[],
): Omit<Page, 'parts'> {
  const eventId = event.id;
  const path = `/events/${eventId}`;
  const isSelling = tickets.some(({ active }) => active);
  const tabs = Object.entries(TABS).filter(([, [, scope]]) => may(scope));
  return {
    title: event.name,
    chips: together(
      stateChip(event, tickets, words, format, sellers),
      event.mode === 'test' ? chip('info', words.event.test) : NOTHING,
    ),
    about: aboutEvent(event, words, format),
    path: [link('/', words.shell.pages.events)],
    actions: [
      // It sells nothing that could be watched.
      event.calledOffAt ? NOTHING : buttonLink(`/live/${eventId}`, words.event.watch),
      isSelling
        ? action(operations.ticketStopAll, { eventId }, words.event.stopSale, { kind: 'danger' })
        : NOTHING,
      mayResume(event) ? action(operations.ticketResumeAll, { eventId }, words.event.resumeSale) : NOTHING,
    ],
    tabs: tabs.map(([name, [end]]): Tab => {
      const href = path + end;
      return { href, name: words.event.tabs[name as EventTab], isCurrent: name === current };
    }),
  };
}

/** Returns when and where an event takes place, and its currency. */
export const aboutEvent = ({ startsAt, endsAt, venue, currency }: Event, { event }: Words, format: Format) =>
  new Html(
    html`${[startsAt ? format.span(startsAt, endsAt) : event.noTime, venue ?? event.noPlace, currency]
      .filter(Boolean)
      .join(' · ')}`,
  );

/** Returns whether the tickets that were stopped together can be sold again. */
const mayResume = ({ stoppedTickets, calledOffAt, archivedAt }: Event) =>
  Boolean(stoppedTickets?.length) && !calledOffAt && !archivedAt;

/** Returns the state of the sale of an event. `sellers`: the partners that may sell it, if they are known. */
export function stateChip(
  event: Event,
  tickets: readonly DescribedTicket[],
  words: Words,
  format: Format,
  sellers?: readonly Seller[],
) {
  const enabled = sellers?.filter(({ disabledAt }) => disabledAt === null).length;
  return saleChip({ event, sale: saleOf(tickets, new Date()), sellers: enabled }, words, format);
}
