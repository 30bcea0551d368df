import type { CancellationsRow, SalesRow } from '@floodgate/reports/console';
import { card, figure, grid } from '../view/html.ts';
import { timeChart, type Moment } from '../view/over-time.ts';
import type { EventPageRequest } from './event-page.ts';
import type { Asked } from './report-filter.ts';
import { linesHtml, money, moneyColumn, partnerName, sumOf, ticketName } from './report-parts.ts';

/** Shows when what was sold. */
export function showSales(page: EventPageRequest, { rows }: { rows: readonly SalesRow[] }, { by }: Asked) {
  const { words, format } = page;
  const { reports } = words;
  const [sold, cancelled] = [sumOf(rows, 'sold'), sumOf(rows, 'cancelled')];
  const moments = rows.map(({ at, ticket, sold: count }): Moment => ({ at, name: ticket, count }));
  const title = reports.salesChart;
  const lines = linesHtml(page, rows, {
    empty: reports.nothing,
    columns: [
      by === 'day'
        ? { head: reports.day, cell: ({ at }) => format.day(at) }
        : { head: reports.hour, cell: ({ at }) => format.time(at) },
      { head: reports.ticket, cell: (row) => ticketName(page, row) },
      { head: reports.partner, cell: (row) => partnerName(page, row) },
      { head: reports.sold, cell: (row) => row.sold },
      { head: reports.cancelled, cell: (row) => row.cancelled },
    ],
  });
  if (rows.length === 0) return [lines];
  return [
    grid(
      figure(format.number(sold), reports.sold),
      figure(format.number(cancelled), reports.cancelled),
      figure(format.number(sold - cancelled), reports.left),
    ),
    card(title, timeChart({ title, step: by, moments, format, words })),
    lines,
  ];
}

/** Shows what was cancelled, by day. */
export function showCancellations(page: EventPageRequest, { rows }: { rows: readonly CancellationsRow[] }) {
  const { words, format } = page;
  const { reports } = words;
  const title = reports.cancellationsChart;
  const moments = rows.map(({ at, ticket, cancelled }): Moment => ({ at, name: ticket, count: cancelled }));
  const lines = linesHtml(page, rows, {
    empty: reports.noCancellations,
    columns: [
      { head: reports.day, cell: ({ at }) => format.day(at) },
      { head: reports.ticket, cell: (row) => ticketName(page, row) },
      { head: reports.partner, cell: (row) => partnerName(page, row) },
      moneyColumn(page, reports.price, ({ price }) => price),
      { head: reports.cancelled, cell: ({ cancelled }) => cancelled },
      moneyColumn(page, reports.netAmount, ({ cancelledAmount }) => cancelledAmount),
    ],
  });
  if (rows.length === 0) return [lines];
  return [
    grid(
      figure(format.number(sumOf(rows, 'cancelled')), reports.cancelled),
      figure(money(page, sumOf(rows, 'cancelledAmount')), reports.cancelledAmount),
    ),
    card(title, timeChart({ title, step: 'day', moments, format, words })),
    lines,
  ];
}
