import { countSellers, type Event } from '@floodgate/events/console';
import { mayUse } from '@floodgate/operators';
import { readEventSales, type SaleOfEvent } from '@floodgate/tickets/console';
import { html } from 'ghtml';
import type { PageRequest, Show } from '../add-page.ts';
import { actions, address, bar, buttonLink, Html, link, NOTHING, type Shown } from '../view/html.ts';
import { listing } from '../view/listing.ts';
import type { Tab } from '../view/page.ts';
import { phaseOf, saleChip, type EventSale } from './event-state.ts';

/** The lists of events, in the order of their tabs. */
const LISTS = ['upcoming', 'running', 'past', 'archived', 'test'] as const;
type List = (typeof LISTS)[number];

const PER_PAGE = 50;

/** Shows the events by date: those that come, the next one first. */
export const showEvents: Show = async (page) => {
  const { operations, query, words, operator } = page;
  const now = new Date();
  const current = LISTS.find((one) => one === query['when']) ?? 'upcoming';
  const { q = '' } = query;
  const all = await readEvents(page);
  const lists = listsOf(all.filter(matches(q)), now);
  const shown = lists[current];
  const last = Math.max(1, Math.ceil(shown.length / PER_PAGE));
  const number = Math.min(last, Math.max(1, Number.parseInt(query['page'] ?? '1', 10) || 1));
  return {
    title: words.shell.pages.events,
    about: nextOpening(page, all, now),
    actions: [
      mayUse(operator, operations.eventCreate.scope)
        ? buttonLink('/events/new', words.eventList.add, { kind: 'primary' })
        : NOTHING,
    ],
    tabs: LISTS.map((list) => tabOf(page, list, list === current, lists[list].length)),
    parts: [
      filterHtml(page, current),
      current === 'upcoming' && shown.length === 0 && lists.test.length > 0 ? testHint(page) : '',
      eventTable(page, shown.slice((number - 1) * PER_PAGE, number * PER_PAGE), now),
      pagesHtml(page, number, last),
    ],
    help: 'operate/console',
  };
};

/** Resolves to all events that the operator may see, each with its sale as far as it may see that. */
async function readEvents({ db, read, operations, may }: PageRequest): Promise<EventSale[]> {
  const [open = [], archived = [], sales, sellers] = await Promise.all([
    read(operations.eventList, {}),
    read(operations.eventList, { archived: true }),
    may('tickets:read') ? readEventSales(db) : undefined,
    countSellers(db),
  ]);
  return [...open, ...archived].map((event) => ({
    event,
    sale: sales && (sales.get(event.id) ?? NO_TICKETS),
    sellers: sellers.get(event.id) ?? 0,
  }));
}

const NO_TICKETS: SaleOfEvent = {
  tickets: 0,
  capacity: 0,
  taken: 0,
  left: 0,
  waiting: 0,
  active: 0,
  open: 0,
  openLeft: 0,
  opensAt: null,
};

const folded = (text: string) => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();

/** Returns whether the name or place of an event contains every word of a text, or the text is its reference. */
function matches(text: string) {
  const terms = folded(text).split(/\s+/);
  return ({ event: { name, venue, ref } }: EventSale) => {
    const where = folded(`${name} ${venue ?? ''}`);
    return ref === text.trim() || terms.every((term) => where.includes(term));
  };
}

function listOf({ archivedAt, mode, ...times }: Event, now: Date): List {
  if (archivedAt) return 'archived';
  return mode === 'test' ? 'test' : phaseOf(times, now);
}

/** Returns each list in its order. An event without a time comes last among those that come. */
function listsOf(events: readonly EventSale[], now: Date): Record<List, EventSale[]> {
  const groups = Object.groupBy(events, ({ event }) => listOf(event, now));
  const byStart = (one: EventSale, other: EventSale) =>
    startOf(one) - startOf(other) || one.event.id - other.event.id;
  const newest = (one: EventSale, other: EventSale) => byStart(other, one);
  return {
    upcoming: (groups.upcoming ?? []).toSorted(byStart),
    running: (groups.running ?? []).toSorted(byStart),
    past: (groups.past ?? []).toSorted(newest),
    archived: (groups.archived ?? []).toSorted(newest),
    test: (groups.test ?? []).toSorted((one, other) => other.event.id - one.event.id),
  };
}

/** The latest time that a date can have, which two of them can be subtracted from. */
const LATEST_MS = 8.64e15;
const startOf = ({ event: { startsAt } }: EventSale) => startsAt?.getTime() ?? LATEST_MS;

/** Returns the address of a list, or of a page of it. */
const listAddress = (when: List, q: string | undefined, page?: number) =>
  address('/', { when: when === 'upcoming' ? '' : when, q, page: page === 1 ? undefined : page });

function tabOf({ query, words, format }: PageRequest, list: List, isCurrent: boolean, count: number): Tab {
  const name = `${words.eventList.lists[list]} ${format.number(count)}`;
  return { href: listAddress(list, query['q']), name, isCurrent };
}

const filterHtml = ({ query, words }: PageRequest, when: List) =>
  html`<form class="filter" method="get" action="/">
    !${when === 'upcoming' ? '' : html`<input type="hidden" name="when" value="${when}" />`}
    <label for="filter">${words.eventList.filter}</label>
    <input id="filter" type="search" name="q" value="${query['q'] ?? ''}" autocomplete="off" />
    <button>${words.eventList.show}</button>
    !${query['q'] ? link(listAddress(when, undefined), words.eventList.showAll).text : ''}
  </form>`;

/** Somebody whose only events are tests finds them in another list. */
const testHint = ({ words, query }: PageRequest) =>
  html`<p>!${link(listAddress('test', query['q']), words.eventList.testsAreElsewhere).text}</p>`;

function eventTable(page: PageRequest, events: readonly EventSale[], now: Date) {
  const { words, format, query } = page;
  const { eventList } = words;
  const table = listing({
    caption: words.shell.pages.events,
    things: events,
    empty: query['q'] ? eventList.noMatch : eventList.none,
    format,
    columns: [
      { head: eventList.event, cell: ({ event }) => nameCell(event, words.event.noPlace) },
      { head: eventList.when, cell: (of) => whenCell(page, of) },
      { head: eventList.taken, cell: ({ sale }) => (sale?.capacity ? bar(sale.taken, sale.capacity) : null) },
      { head: eventList.seats, cell: (of) => seatsCell(page, of), isNumber: true },
      {
        head: eventList.state,
        cell: (of) => (of.sale ? saleChip(of, words, format.inZone(of.event.timeZone), now) : null),
      },
    ],
  });
  return html`<section class="card">!${table}</section>`;
}

const nameCell = ({ id, name, venue }: Event, noPlace: string) =>
  new Html(
    html`<span
      ><a href="/events/${id}"
        ><strong><bdi>${name}</bdi></strong></a
      ><br /><bdi class="soft">${venue ?? noPlace}</bdi></span
    >`,
  );

function whenCell({ format, words }: PageRequest, { event: { startsAt, timeZone } }: EventSale): Shown {
  return startsAt ? format.inZone(timeZone).time(startsAt) : words.event.noTime;
}

function seatsCell({ words, format }: PageRequest, { sale }: EventSale): Shown {
  if (!sale || sale.tickets === 0) return null;
  return words.eventList.ofCapacity(format.number(sale.taken), format.number(sale.capacity));
}

/** Returns the event whose sale opens next, and how long that takes. */
function nextOpening({ words, format }: PageRequest, events: readonly EventSale[], now: Date): Shown {
  const opening = events
    .flatMap(({ event, sale }) =>
      listOf(event, now) === 'upcoming' && !event.calledOffAt && sale?.opensAt
        ? [{ event, at: sale.opensAt }]
        : [],
    )
    .toSorted((one, other) => +one.at - +other.at)[0];
  if (!opening) return null;
  const { event, at } = opening;
  const { nextOpening: text, inTime } = words.eventList;
  return new Html(
    html`${text} <a href="/events/${event.id}">${event.name}</a> ${inTime(format.countdown(+at - +now))}
      (!${format.inZone(event.timeZone).time(at)!.text})`,
  );
}

function pagesHtml({ query, words, format }: PageRequest, number: number, last: number) {
  if (last === 1) return '';
  const when = LISTS.find((one) => one === query['when']) ?? 'upcoming';
  const to = (page: number, name: string) => buttonLink(listAddress(when, query['q'], page), name);
  return actions(
    number > 1 ? to(number - 1, words.shell.previous) : NOTHING,
    number < last ? to(number + 1, words.shell.next) : NOTHING,
    new Html(
      html`<span class="soft">${words.eventList.pageOf(format.number(number), format.number(last))}</span>`,
    ),
  );
}
