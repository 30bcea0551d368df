import type { Event } from '@floodgate/events';
import type { DescribedTicket } from '@floodgate/tickets/console';
import { html } from 'ghtml';
import type { PageRequest, Show } from '../add-page.ts';
import type { Format } from '../view/format.ts';
import { buttonLink, chip, Html, link, NOTHING, together, type Tone } from '../view/html.ts';
import type { Page, Tab } from '../view/page.ts';
import type { Words } from '../words/index.ts';

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

/** What a page of an event knows. */
export interface EventPageRequest extends PageRequest {
  event: Event;
  tickets: readonly DescribedTicket[];
}

/** Returns a page of an event: with its head, its tabs, and what `show` returns. */
export const eventPage =
  (
    tab: EventTab,
    show: (page: EventPageRequest) => Promise<Pick<Page, 'parts' | 'help' | 'refreshSeconds'>>,
  ): Show =>
  async (page) => {
    const { read, operations, params } = page;
    const { eventId } = params;
    const event = (await read(operations.eventShow, { eventId }))!;
    const tickets = (await read(operations.ticketList, { eventId })) ?? [];
    return { ...eventHead(page, event, tickets, tab), ...(await show({ ...page, event, tickets })) };
  };

/** Returns the head of the pages of an event. */
export function eventHead(
  { words, format, may, action, operations }: PageRequest,
  event: Event,
  tickets: readonly DescribedTicket[],
  current: EventTab | undefined,
): Omit<Page, 'parts'> {
  const eventId = event.id;
  const path = `/events/${eventId}`;
  const isSelling = tickets.some(({ active }) => active);
  const tabs = Object.entries(TABS).filter(([, [, scope]]) => may(scope));
  return {
    title: event.name,
    chips: together(
      stateChip(event, tickets, words, format),
      event.mode === 'test' ? chip('info', words.event.test) : NOTHING,
    ),
    about: aboutEvent(event, words, format),
    path: [link('/', words.shell.pages.events)],
    actions: [
      buttonLink(`/live/${eventId}`, words.event.watch),
      isSelling
        ? action(operations.ticketStopAll, { eventId }, words.event.stopSale, { kind: 'danger' })
        : NOTHING,
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

/** Returns the state of the sale of an event. */
export function stateChip(event: Event, tickets: readonly DescribedTicket[], words: Words, format: Format) {
  const [tone, text] = stateOf(event, tickets, words, format);
  return chip(tone, text);
}

function stateOf(
  event: Event,
  tickets: readonly DescribedTicket[],
  words: Words,
  format: Format,
  now = new Date(),
): [Tone, string] {
  const { states } = words.event;
  if (event.calledOffAt) return ['bad', states.calledOff];
  if (event.archivedAt) return ['quiet', states.archived];
  if (tickets.length === 0) return ['warn', states.noTickets];
  const active = tickets.filter((ticket) => ticket.active);
  if (active.length === 0) return ['warn', states.offSale];
  const open = active.filter(({ saleStartsAt, saleEndsAt }) => isBetween(saleStartsAt, now, saleEndsAt));
  if (open.length > 0)
    return open.every(({ left }) => left <= 0) ? ['warn', states.soldOut] : ['ok', states.onSale];
  const opens = active.flatMap(({ saleStartsAt }) =>
    saleStartsAt && saleStartsAt > now ? [saleStartsAt] : [],
  );
  if (opens.length === 0) return ['quiet', states.ended];
  return ['quiet', states.opens(format.timeText(new Date(Math.min(...opens.map(Number)))))];
}

const isBetween = (from: Date | null, now: Date, to: Date | null) =>
  (!from || from <= now) && (!to || now < to);
