import type { DescribedTicket } from '@floodgate/tickets/console';
import { html } from 'ghtml';
import type { Notice } from '../view/page.ts';
import { noticesHtml } from '../view/page.ts';
import { chip, card, figure, grid, Html, link, together, type Shown } from '../view/html.ts';
import { lineChart } from '../view/chart.ts';
import { listing } from '../view/listing.ts';
import type { Viewer } from '../view/viewer.ts';
import {
  acceptedOf,
  latest,
  minutesOf,
  pointsOf,
  refusedByCode,
  seriesOf,
  sumAccepted,
  sumRefused,
  type SaleWindow,
} from '../sale/sale-history.ts';

/** The figures at the top are those of the last seconds, so that one slow second does not make them jump. */
const PACE_MS = 5_000;
const MINUTE_MS = 60_000;

/** The installation's part of a launch, for those who may see it. */
export interface LiveInstallation {
  waiting: number | null;
  undeliveredMs: number | null;
  /** Refused requests per second that belong to no known event. */
  strangers: number;
}

/** The figures of a launch's page. */
export interface LiveFigures {
  tickets: readonly DescribedTicket[];
  window: SaleWindow;
  notices: readonly Notice[];
  installation: LiveInstallation | undefined;
  /** The figures are those of an earlier minute, not of now. */
  isEarlier: boolean;
}

/** Returns the state of a launch. The format is in the zone of the event. */
export const launchHtml = (figures: LiveFigures, viewer: Viewer) =>
  [
    grid(...numbersHtml(figures, viewer)),
    grid(
      card(chartTitle(figures, viewer), chartHtml(figures, viewer), 7),
      card(viewer.words.live.reasons, reasonsHtml(figures, viewer), 5),
    ),
    grid(card(viewer.words.live.tickets, ticketsHtml(figures, viewer), 7), healthHtml(figures, viewer)),
  ].join('\n');

function numbersHtml(
  { tickets, window, installation, isEarlier }: LiveFigures,
  { words: { live }, format }: Viewer,
) {
  const paceMs = isEarlier ? MINUTE_MS : PACE_MS;
  const seconds = latest(window, paceMs);
  const perSecond = (count: number) => format.number(isEarlier ? count : (count * 1_000) / paceMs);
  const capacity = tickets.reduce((sum, ticket) => sum + ticket.capacity, 0);
  const left = tickets.map((ticket) => leftOf(ticket, window, isEarlier));
  const known = left.filter((count) => count !== null);
  const load = isEarlier ? loadOf(window) : installation;
  return [
    figure(
      known.length > 0 ? format.number(known.reduce((sum, count) => sum + count, 0)) : null,
      live.seatsLeft(format.number(capacity)),
    ),
    figure(perSecond(sumAccepted(seconds)), isEarlier ? live.acceptedInMinute : live.accepted),
    figure(perSecond(sumRefused(seconds)), isEarlier ? live.refusedInMinute : live.refused),
    load
      ? figure(load.undeliveredMs === null ? null : format.duration(load.undeliveredMs), live.delivery)
      : '',
  ];
}

/** Returns the seats that are left, or that were left at an earlier minute. Null: it is not known. */
const leftOf = ({ id, left }: DescribedTicket, { last }: SaleWindow, isEarlier: boolean) =>
  isEarlier ? (last?.tickets[id]?.[0] ?? null) : left;

/** Returns the load of the installation at the end of an earlier minute. */
function loadOf(window: SaleWindow) {
  const second = latest(window, MINUTE_MS).at(-1);
  return second && { waiting: second.waiting, undeliveredMs: second.undeliveredMs };
}

const chartTitle = ({ window, isEarlier }: LiveFigures, { words: { live }, format }: Viewer) =>
  isEarlier ? live.chartUntil(format.clock(window.end)) : live.chart;

function chartHtml(figures: LiveFigures, viewer: Viewer) {
  const { words, format } = viewer;
  const { live, shell } = words;
  const names: [string, string] = [live.acceptedName, live.refusedName];
  const [points, minutes] = [pointsOf(figures.window), minutesOf(figures.window)];
  return lineChart({
    title: chartTitle(figures, viewer),
    labels: points.times.map((time) => format.clock(time)),
    series: seriesOf(points, names),
    format,
    words: { time: shell.time, asTable: live.perMinute },
    table: { labels: minutes.times.map((time) => format.clock(time)), series: seriesOf(minutes, names) },
  });
}

function reasonsHtml(figures: LiveFigures, { words, format }: Viewer) {
  const { live } = words;
  const { window, isEarlier, installation } = figures;
  const paceMs = isEarlier ? MINUTE_MS : PACE_MS;
  const now = refusedByCode(latest(window, paceMs));
  const all = Object.entries(refusedByCode(window.seconds)).sort(([, one], [, other]) => other - one);
  const strangers = installation?.strangers ?? 0;
  const table = listing({
    caption: live.reasons,
    things: all,
    empty: live.nothingRefused,
    format,
    columns: [
      { head: live.reason, cell: ([code]) => reasonHtml(code, live.codes[code]) },
      {
        head: isEarlier ? live.inMinute : live.now,
        cell: ([code]) => (isEarlier ? (now[code] ?? 0) : ((now[code] ?? 0) * 1_000) / paceMs),
      },
      { head: live.inWindow, cell: ([, count]) => count },
    ],
  });
  return strangers > 0
    ? html`!${table}
        <p class="hint">${live.unknownEvent(format.number(strangers))}</p>`
    : table;
}

const reasonHtml = (code: string, [name, meaning]: readonly [string, string] = [code, '']) =>
  new Html(
    html`<div>
      <strong>${name}</strong> <a href="/help/reference/response-codes#code-${code}">(${code})</a>
      <div class="soft">${meaning}</div>
    </div>`,
  );

function ticketsHtml(figures: LiveFigures, viewer: Viewer) {
  const { words, format } = viewer;
  const { live } = words;
  const { window, isEarlier } = figures;
  const paceMs = isEarlier ? MINUTE_MS : PACE_MS;
  const seconds = latest(window, paceMs);
  const paceOf = (ticketId: number) => (acceptedOf(ticketId, seconds) * 1_000) / paceMs;
  return listing({
    caption: live.tickets,
    things: figures.tickets,
    empty: live.noTickets,
    format,
    columns: [
      {
        head: live.ticket,
        cell: ({ id, eventId, title }) => link(`/events/${eventId}/tickets/${id}`, title),
      },
      { head: live.left, cell: (ticket) => leftOf(ticket, window, isEarlier) },
      !isEarlier && { head: live.taken, cell: ({ taken }) => taken },
      {
        head: isEarlier ? live.acceptedInMinute : live.pace,
        cell: ({ id }) => (isEarlier ? acceptedOf(id, seconds) : paceOf(id)),
      },
      !isEarlier && { head: words.health.state, cell: (ticket) => saleOf(ticket, paceOf(ticket.id), viewer) },
    ],
  });
}

function saleOf(ticket: DescribedTicket, pace: number, { words: { live }, format }: Viewer): Shown {
  const now = new Date();
  if (!ticket.active) return chip('warn', live.offSale);
  if (ticket.saleStartsAt && ticket.saleStartsAt > now)
    return chip('quiet', live.opens(format.timeText(ticket.saleStartsAt)));
  if (ticket.saleEndsAt && ticket.saleEndsAt <= now) return chip('quiet', live.ended);
  if (ticket.left <= 0) return chip('warn', live.soldOut);
  if (pace <= 0) return chip('ok', live.onSale);
  const text = live.soldOutIn(format.duration(Math.ceil(ticket.left / pace) * 1_000));
  return together(chip('ok', live.onSale), new Html(html`<span class="soft">${text}</span>`));
}

function healthHtml({ notices, installation, window, isEarlier }: LiveFigures, { words, format }: Viewer) {
  const { health, live } = words;
  const waiting = (isEarlier ? loadOf(window) : installation)?.waiting ?? null;
  const calls = waiting === null ? '' : html`<p>${live.waiting(waiting, format.number(waiting))}</p>`;
  if (isEarlier) return calls && card(live.health, calls, 5);
  const state =
    notices.length === 0
      ? html`<p>!${chip('ok', health.stateFine).text} ${health.fine}</p>`
      : html`<p>!${chip('bad', health.stateAttention).text} ${health.attention(notices.length)}</p>
          !${noticesHtml(notices, words)}`;
  return card(live.health, state + calls, 5);
}
