import type { DescribedTicket } from '@floodgate/tickets/console';
import { html } from 'ghtml';
import { Refusal } from '../principals.ts';
import {
  actions,
  bar,
  card,
  facts,
  figure,
  grid,
  Html,
  link,
  NOTHING,
  rows,
  together,
  type Shown,
} from '../view/html.ts';
import { allocationsHtml } from './allocations.ts';
import { changesHtml } from './changes.ts';
import { partnerNames } from './names.ts';
import { namesIn } from './subjects.ts';
import { eventPage, type EventPageRequest } from './event-page.ts';
import { saleText, switchAction } from './ticket-table.ts';

/** Changes of a ticket on its page. The audit log has all. */
const LATEST = 10;

/** Shows a ticket: its settings by subject, the prices that it had, its allocations and its latest changes. */
export const showTicket = eventPage('tickets', async (request) => {
  // A ticket of an event that is called off can only be read.
  const page = request.event.calledOffAt ? { ...request, action: () => NOTHING } : request;
  const { params, tickets, event, words } = page;
  const ticket = tickets.find(({ id }) => String(id) === params.ticketId);
  if (!ticket) throw new Refusal(404, 'No such page');
  const { shell } = words;
  return {
    title: ticket.title,
    about: saleText(ticket, words, page.format),
    path: [link('/', shell.pages.events), link(`/events/${event.id}`, event.name)],
    // The state of the sale of the event could be another one than that of the ticket.
    ...(event.calledOffAt || event.archivedAt ? {} : { chips: NOTHING }),
    actions: [switchAction(page, ticket)],
    parts: [
      figuresHtml(page, ticket),
      grid(
        saleCard(page, ticket),
        await priceCard(page, ticket),
        textCard(page, ticket),
        waitingCard(page, ticket),
      ),
      await allocationsCard(page, ticket),
      await changesCard(page, ticket),
    ],
    help: 'operate/launch',
  };
});

/** Returns a part of the page about one subject, with the form that changes it. */
type CardOf = (page: EventPageRequest, ticket: DescribedTicket) => string;

function figuresHtml({ words, format, action, operations }: EventPageRequest, ticket: DescribedTicket) {
  const { tickets } = words;
  const { id: ticketId, taken, capacity, left } = ticket;
  const change = action(operations.ticketUpdate, { ticketId }, tickets.changeCapacity, { part: 'capacity' });
  return html`<div class="grid">
    !${figure(format.number(taken), tickets.takenOf(format.number(capacity)))}
    !${figure(format.number(left), tickets.left)}
    <div class="card s6">!${bar(taken, capacity).text} !${actions(change)}</div>
  </div>`;
}

const saleCard: CardOf = (page, ticket) => {
  const { words, format, action, operations } = page;
  const { tickets } = words;
  const { id: ticketId, saleStartsAt, saleEndsAt } = ticket;
  const change = action(operations.ticketUpdate, { ticketId }, tickets.changeSale, { part: 'sale' });
  const settings = facts(
    [tickets.state, saleText(ticket, words, format)],
    [tickets.opens, format.time(saleStartsAt) ?? tickets.atOnce],
    [tickets.ends, format.time(saleEndsAt) ?? tickets.never],
  );
  return card(tickets.sale, settings + actions(change), 6);
};

async function priceCard(page: EventPageRequest, ticket: DescribedTicket) {
  const { words, format, read, action, operations, event } = page;
  const { tickets } = words;
  const { id: ticketId } = ticket;
  const change = action(operations.ticketUpdate, { ticketId }, tickets.changePrice, { part: 'price' });
  const { prices = [] } = (await read(operations.ticketPrices, { ticketId })) ?? {};
  const money = (price: number) => format.money(price, event.currency);
  // The list of changes has the button that takes the last one back.
  const listed = prices.toReversed().map(({ validFrom, price }): Shown => {
    const since = validFrom
      ? html`${tickets.sinceTime} !${format.time(validFrom)!.text}`
      : html`${tickets.first}`;
    return new Html(html`<strong>${money(price)}</strong> <span class="soft">!${since}</span>`);
  });
  const kept = html`<p class="hint">${tickets.priceKept}</p>`;
  return card(tickets.price, rows(...listed) + kept + actions(change), 6);
}

const textCard: CardOf = ({ words, action, operations }, { id: ticketId, title, benefits }) => {
  const { tickets } = words;
  const change = action(operations.ticketUpdate, { ticketId }, tickets.changeTexts, { part: 'texts' });
  return card(
    tickets.texts,
    facts([tickets.title, title], [tickets.benefits, benefits]) + actions(change),
    6,
  );
};

const waitingCard: CardOf = ({ words, format, action, operations }, ticket) => {
  const { tickets } = words;
  const { id: ticketId, offerHours, waitingClosesAt, waiting } = ticket;
  const change = action(operations.ticketUpdate, { ticketId }, tickets.changeWaiting, { part: 'waiting' });
  const settings = facts(
    [
      tickets.waitingList,
      offerHours === null ? tickets.noList : tickets.offersLast(format.duration(offerHours * 3_600_000)),
    ],
    [tickets.waiting, link(`/tickets/${ticketId}/waiting-list`, format.number(waiting))],
    [tickets.closes, offerHours === null ? null : (format.time(waitingClosesAt) ?? tickets.withSale)],
  );
  return card(tickets.waitingList, settings + actions(change), 6);
};

async function allocationsCard(page: EventPageRequest, ticket: DescribedTicket) {
  const { read, operations, words, action } = page;
  const { id: ticketId } = ticket;
  const allocations = await read(operations.ticketAllocations, { ticketId });
  if (!allocations) return '';
  const names = await partnerNames(page, [page.event.id]);
  const table = allocationsHtml(page, { allocations, names });
  const allocate = action(operations.ticketAllocate, { ticketId }, words.tickets.allocate);
  return card(words.tickets.allocations, table + actions(allocate));
}

async function changesCard(page: EventPageRequest, ticket: DescribedTicket) {
  const { read, operations, words } = page;
  const changes = await read(operations.auditList, { subject: `ticket:${ticket.id}`, limit: LATEST });
  if (!changes) return '';
  const list = await changesHtml(page, changes, await namesIn(page, changes), {
    withUndo: page.event.calledOffAt === null,
  });
  const all = together(link(`/audit?subject=ticket:${ticket.id}`, words.tickets.allChanges));
  return card(words.tickets.changes, list + actions(all));
}
