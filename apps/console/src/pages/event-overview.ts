import type { Figures, RecentSales } from '@floodgate/reports/console';
import { html } from 'ghtml';
import { eventPage, type EventPageRequest } from './event-page.ts';
import { lineChart, type Series } from '../view/chart.ts';
import { card, figure, grid, Html } from '../view/html.ts';
import { attentionHtml, problemsOf } from './event-problems.ts';
import { addTicketHtml, ticketTable } from './ticket-table.ts';

const HOUR_MS = 3_600_000;
/** Lines of a chart that can be told apart. */
const MOST_LINES = 5;

/** Shows how an event does now, and what needs attention. */
export const showEvent = eventPage('overview', async (page) => {
  const { read, operations, params, words } = page;
  const { eventId } = params;
  const [figures, recent, problems] = await Promise.all([
    read(operations.reportFigures, { eventId }),
    read(operations.reportRecentSales, { eventId }),
    problemsOf(page),
  ]);
  return {
    parts: [
      madeHtml(page),
      figures ? figuresHtml(page, figures) : '',
      grid(
        recent ? card(words.overview.lastDay, chartHtml(page, recent), 8) : '',
        card(problems.heading, attentionHtml(problems), recent ? 4 : 12),
      ),
      page.may('tickets:read') ? ticketsHtml(page) : '',
    ],
    help: 'operate/launch',
  };
});

/** Returns what follows after the event was made. */
const madeHtml = ({ query, event, words }: EventPageRequest) =>
  query['made'] === undefined
    ? ''
    : html`<div class="done" role="status">
        <p><strong>${words.overview.made(event.name)}</strong></p>
      </div>`;

function figuresHtml({ words, format }: EventPageRequest, figures: Figures) {
  const { overview } = words;
  const { eventId, tickets, currency, admitted, moreAdmitted } = figures;
  const sum = (field: 'sold' | 'held' | 'left' | 'capacity') =>
    tickets.reduce((all, one) => all + one[field], 0);
  const amounts = tickets.map(({ amount }) => amount);
  const [capacity, held] = [format.number(sum('capacity')), format.number(sum('held'))];
  const amount = amounts.some((one) => one === null)
    ? figure(
        null,
        new Html(
          html`${overview.severalPrices} <a href="/events/${eventId}/reports">${overview.inReports}</a>`,
        ),
      )
    : figure(
        format.money(
          amounts.reduce<number>((all, one) => all + (one ?? 0), 0),
          currency,
        ),
        overview.amount,
      );
  return html`<div class="grid">
    !${figure(format.number(sum('sold')), overview.soldOf(capacity))}
    !${figure(format.number(sum('left')), overview.leftHeld(held))} !${amount}
    !${figure(format.number(admitted) + (moreAdmitted ? '+' : ''), overview.admitted)}
  </div>`;
}

function chartHtml(page: EventPageRequest, recent: RecentSales) {
  const { words, format, params } = page;
  const { overview, shell } = words;
  if (recent.hours.length === 0) return html`<p class="none">${overview.nothingSold}</p>`;
  const starts = hoursSince(recent.from, new Date());
  const chart = lineChart({
    title: overview.lastDay,
    labels: starts.map((start) => format.clock(start)),
    series: seriesOf(page, recent, starts),
    format,
    words: { time: overview.hour, asTable: shell.asTable },
  });
  const note = recent.isEstimate ? overview.estimate : overview.exact;
  return html`!${chart}
    <p class="hint">${note} <a href="/events/${params.eventId}/reports">${words.event.tabs.reports}</a></p>`;
}

function hoursSince(from: Date, until: Date) {
  const count = Math.floor((+until - +from) / HOUR_MS) + 1;
  return Array.from({ length: count }, (_, index) => new Date(+from + index * HOUR_MS));
}

/** Returns a line for each ticket that sold most, and one for the others. */
function seriesOf(
  { tickets, words }: EventPageRequest,
  { hours }: RecentSales,
  starts: readonly Date[],
): Series[] {
  const byTicket = Map.groupBy(hours, ({ ticketId }) => ticketId);
  const soldBy = (id: number) => (byTicket.get(id) ?? []).reduce((all, { sold }) => all + sold, 0);
  const ranked = [...byTicket.keys()].toSorted((one, other) => soldBy(other) - soldBy(one));
  const named = ranked.length > MOST_LINES + 1 ? ranked.slice(0, MOST_LINES) : ranked;
  const valuesOf = (ids: ReadonlySet<number>) => {
    const sums = new Map<number, number>();
    for (const { at, ticketId, sold } of hours)
      if (ids.has(ticketId)) sums.set(+at, (sums.get(+at) ?? 0) + sold);
    return starts.map((start) => sums.get(+start) ?? 0);
  };
  const titles = new Map(tickets.map(({ id, title }) => [id, title]));
  const series = named.map((id) => ({ name: titles.get(id) ?? String(id), values: valuesOf(new Set([id])) }));
  const others = ranked.slice(named.length);
  if (others.length === 0) return series;
  return [...series, { name: words.overview.otherTickets, values: valuesOf(new Set(others)) }];
}

function ticketsHtml(page: EventPageRequest) {
  const { tickets } = page.words.event.tabs;
  return card(tickets, ticketTable(page, tickets) + addTicketHtml(page));
}
