import type { Report } from '@floodgate/reports/console';
import type { FastifyInstance } from 'fastify';
import { html } from 'ghtml';
import { adder, type Show } from '../add-page.ts';
import type { ConsoleContext } from '../operations.ts';
import { address } from '../view/html.ts';
import { SlowReads, type Dated } from '../view/slow-reads.ts';
import { subTabs } from '../view/sub-tabs.ts';
import { showAdmissions, showAttendance, type Attendance } from './attendance-reports.ts';
import { eventPage, type EventPageRequest } from './event-page.ts';
import { addInvoiceFile } from './invoice-file.ts';
import { aboutAsked, askedOf, filterHtml, namesOf, queryOf } from './report-filter.ts';
import type { Asked, Names, Narrowing } from './report-filter.ts';
import { fileLinks, type Line, type ReportName } from './report-parts.ts';
import { showCancellations, showSales } from './sales-reports.ts';
import { showSettlement } from './settlement-report.ts';

const SCOPES = ['registrations:read'] as const;
const ASK_AGAIN_SECONDS = 1;
const NAMES: readonly ReportName[] = ['settlement', 'sales', 'attendance', 'admissions', 'cancellations'];

/** A report: what it reads, and how that is shown. */
interface ReportPage<Value> extends Narrowing {
  name: ReportName;
  read: (page: EventPageRequest, asked: Asked) => Promise<Value>;
  show: (page: EventPageRequest, value: Value, asked: Asked) => string[];
}

/** A page asks for no file. */
function rowsOf<Row>(report: Report<Row> | Response | undefined): { rows: readonly Row[] } {
  return report === undefined || report instanceof Response ? { rows: [] } : report;
}

/** Adds the reports about an event, each with a page. The first one is the page of the tab, too. */
export function addReportPages(app: FastifyInstance, context: ConsoleContext) {
  const add = adder(app, context);
  const period = { hasPeriod: true, hasSteps: false };
  const settlement = reportPage({
    name: 'settlement',
    ...period,
    read: async ({ read, operations, event }, { given }) =>
      rowsOf(await read(operations.reportSettlement, { eventId: event.id, ...given })),
    show: showSettlement,
  });
  add('/events/:eventId/reports', SCOPES, settlement);
  add('/events/:eventId/reports/settlement', SCOPES, settlement);
  const sales = reportPage({
    name: 'sales',
    hasPeriod: true,
    hasSteps: true,
    read: async ({ read, operations, event }, { given, by }) =>
      rowsOf(await read(operations.reportSales, { eventId: event.id, by, ...given })),
    show: showSales,
  });
  add('/events/:eventId/reports/sales', SCOPES, sales);
  const attendance = reportPage({
    name: 'attendance',
    hasPeriod: false,
    hasSteps: false,
    read: readAttendance,
    show: showAttendance,
  });
  add('/events/:eventId/reports/attendance', SCOPES, attendance);
  const admissions = reportPage({
    name: 'admissions',
    ...period,
    read: async ({ read, operations, event }, { given }) =>
      rowsOf(await read(operations.reportAdmissions, { eventId: event.id, ...given })),
    show: showAdmissions,
  });
  add('/events/:eventId/reports/admissions', SCOPES, admissions);
  const cancellations = reportPage({
    name: 'cancellations',
    ...period,
    read: async ({ read, operations, event }, { given }) =>
      rowsOf(await read(operations.reportCancellations, { eventId: event.id, ...given })),
    show: showCancellations,
  });
  add('/events/:eventId/reports/cancellations', SCOPES, cancellations);
  addInvoiceFile(app, context);
}

async function readAttendance(
  { read, operations, event }: EventPageRequest,
  { given }: Asked,
): Promise<Attendance> {
  const { partnerId, ticketId } = given;
  const subject = { eventId: event.id, partnerId, ticketId };
  const { rows } = rowsOf(await read(operations.reportAttendance, subject));
  const admissions = rowsOf(await read(operations.reportAdmissions, subject));
  return { rows, admissions: admissions.rows };
}

/**
 * Returns the page of a report. It reads every registration of the event, so the page does not wait for it:
 * until the report is there, the page says so, and asks again.
 */
function reportPage<Value extends { rows: readonly Line[] }>(report: ReportPage<Value>): Show {
  const reads = new SlowReads<Value>();
  return eventPage('reports', async (page) => {
    const asked = askedOf(page, report);
    const key = JSON.stringify([page.event.id, page.format.zone, asked.given, asked.by]);
    const found = await reads.find(key, () => report.read(page, asked));
    const names = withFound(await namesOf(page), found?.value.rows ?? []);
    return {
      help: 'operate/reports',
      ...(!found && { refreshSeconds: ASK_AGAIN_SECONDS }),
      parts: [
        ...headHtml(page, report, asked, names),
        ...(found ? foundHtml(page, report, asked, found) : [waitingHtml(page)]),
      ],
    };
  });
}

/** Returns the names with those of partners that may not sell the event any more. */
function withFound({ partners, tickets }: Names, lines: readonly Line[]): Names {
  const all = new Map(partners);
  for (const { partnerId, partner } of lines)
    if (partnerId !== undefined && partner !== undefined && !all.has(partnerId)) all.set(partnerId, partner);
  return { partners: [...all], tickets };
}

function headHtml<Value>(page: EventPageRequest, report: ReportPage<Value>, asked: Asked, names: Names) {
  const { reports } = page.words;
  const { name, hasPeriod } = report;
  const base = `/events/${page.event.id}/reports`;
  const tabs = NAMES.map((one) => ({
    href: `${base}/${one}`,
    name: reports.names[one],
    isCurrent: one === name,
  }));
  return [
    subTabs(reports.pages, tabs),
    html`<div class="head">
      <div>
        <h2>${reports.names[name]}</h2>
        <p class="sub">${reports.questions[name]}</p>
      </div>
      <div class="buttons"><button type="button" class="print" hidden>${reports.print}</button></div>
    </div>`,
    html`<p><strong>${aboutAsked(page, asked, names, hasPeriod)}</strong></p>`,
    filterHtml(page, asked, names, report),
  ];
}

function foundHtml<Value>(
  page: EventPageRequest,
  report: ReportPage<Value>,
  asked: Asked,
  { at, value }: Dated<Value>,
) {
  const { words, format, url } = page;
  const { reports } = words;
  const again = address(url.split('?', 1)[0]!, queryOf(asked));
  return [
    html`<p class="actions">
      <span class="soft">${reports.downloads}:</span> !${fileLinks(page, report.name, asked).text}
    </p>`,
    ...report.show(page, value, asked),
    html`<p class="soft">
      ${reports.asOf(format.timeText(at))} <a class="again" href="${again}">${reports.again}</a>
    </p>`,
  ];
}

function waitingHtml({ words: { reports }, format, tickets, url }: EventPageRequest) {
  const seats = tickets.reduce((sum, { taken }) => sum + taken, 0);
  return html`<p class="waiting" role="status">
    ${reports.computing(format.number(seats))} <a href="${url}">${reports.reload}</a>
  </p>`;
}
