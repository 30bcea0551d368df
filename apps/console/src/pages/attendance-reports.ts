import type { AdmissionsRow, AttendanceRow } from '@floodgate/reports/console';
import { html } from 'ghtml';
import { card, figure, grid } from '../view/html.ts';
import { timeChart, type Moment } from '../view/over-time.ts';
import type { EventPageRequest } from './event-page.ts';
import { linesHtml, partnerName, sumOf, ticketName } from './report-parts.ts';

/** The people of an event, and when they came. */
export interface Attendance {
  rows: readonly AttendanceRow[];
  admissions: readonly AdmissionsRow[];
}

/** Shows who came, when, and who did not. */
export function showAttendance(page: EventPageRequest, { rows, admissions }: Attendance) {
  const { words, format } = page;
  const { reports } = words;
  const [expected, came] = [sumOf(rows, 'expected'), sumOf(rows, 'came')];
  const missing = expected - came;
  const moments = admissions.map(({ at, ticket, arrived }): Moment => ({ at, name: ticket, count: arrived }));
  const title = reports.arrivals;
  const chart = timeChart({ title, step: 'quarter', moments, isSum: true, format, words });
  const lines = linesHtml(page, rows, {
    empty: reports.attendanceEmpty,
    columns: [
      { head: reports.ticket, cell: (row) => ticketName(page, row) },
      { head: reports.partner, cell: (row) => partnerName(page, row) },
      { head: reports.expected, cell: (row) => row.expected },
      { head: reports.came, cell: (row) => row.came },
      { head: reports.noShows, cell: ({ noShows }) => noShows },
      { head: reports.cameAndCancelled, cell: ({ cameAndCancelled }) => cameAndCancelled },
    ],
  });
  if (rows.length === 0) return [lines];
  return [
    grid(
      figure(format.number(expected), reports.expectedMeaning),
      figure(format.number(came), reports.cameMeaning(format.percent(came, expected))),
      figure(format.number(missing), reports.noShowsMeaning(format.percent(missing, expected))),
      figure(format.number(sumOf(rows, 'cameAndCancelled')), reports.cameAndCancelled),
    ),
    chart
      ? card(
          title,
          html`!${chart}
            <p class="hint">${reports.arrivalsCut}</p>`,
        )
      : html`<p class="none">${reports.noAdmissions}</p>`,
    lines,
  ];
}

/** Shows when people came in, and where. */
export function showAdmissions(page: EventPageRequest, { rows }: { rows: readonly AdmissionsRow[] }) {
  const { words, format } = page;
  const { reports } = words;
  const title = reports.admissionsChart;
  const moments = rows.map(({ at, gate, admitted }): Moment => ({ at, name: gate, count: admitted }));
  const byQuarter = Object.values(Object.groupBy(rows, ({ at }) => at.getTime()));
  const busiest = byQuarter
    .map((ofQuarter = []) => ({ at: ofQuarter[0]!.at, admitted: sumOf(ofQuarter, 'admitted') }))
    .toSorted((one, other) => other.admitted - one.admitted)[0];
  const lines = linesHtml(page, rows, {
    empty: reports.noAdmissions,
    columns: [
      { head: reports.quarter, cell: ({ at }) => format.time(at) },
      { head: reports.gate, cell: ({ gate }) => gate },
      { head: reports.ticket, cell: (row) => ticketName(page, row) },
      { head: reports.admitted, cell: ({ admitted }) => admitted },
      { head: reports.arrived, cell: ({ arrived }) => arrived },
    ],
  });
  if (!busiest) return [lines];
  return [
    grid(
      figure(format.number(sumOf(rows, 'admitted')), reports.admittedMeaning),
      figure(format.number(sumOf(rows, 'arrived')), reports.arrivedMeaning),
      figure(format.shortTime(busiest.at), reports.busiest),
    ),
    card(title, timeChart({ title, step: 'quarter', moments, format, words })),
    lines,
  ];
}
