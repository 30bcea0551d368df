import { Type } from '@sinclair/typebox';
import { Id, instantOrNull, oneOf, text } from '@floodgate/audit';
import { typedAs } from '@floodgate/audit/input';
import { findEvent, type Event } from '@floodgate/events';
import { operationsOn } from '@floodgate/operators';
import { SEPARATORS } from '@floodgate/registrations/export';
import { InvalidInput } from '@floodgate/service/failure';
import { readAdmissions, readAttendance } from './attendance.ts';
import { readCancellations } from './cancellations.ts';
import { readFigures } from './overview.ts';
import { readRecentSales } from './recent-sales.ts';
import { readSales, STEPS } from './sales.ts';
import { readSettlement } from './settlement.ts';
import { readStory } from './story.ts';
import { csvFile, REPORT_FORMATS, type ReportFormat, type Separator } from './table.ts';

export type { AdmissionsRow, AttendanceRow } from './attendance.ts';
export type { CancellationsRow } from './cancellations.ts';
export type { Figures, TicketFigures } from './overview.ts';
export type { HourOfSales, RecentSales } from './recent-sales.ts';
export type { SalesRow } from './sales.ts';
export type { StoryEntry, StoryKind } from './story.ts';
export type { SettlementRow } from './settlement.ts';

const { queryOperation } = operationsOn('registrations');

/** A report about an event. */
export interface Report<Row> {
  eventId: number;
  event: string;
  /** The zone in which days and hours begin. */
  timeZone: string;
  rows: Row[];
}

const Time = Type.Optional(instantOrNull('a time, or none'));
const Period = { from: Time, until: Time };
const Subject = {
  partnerId: typedAs('--partner', Type.Optional(Id)),
  ticketId: typedAs('--ticket', Type.Optional(Id)),
};
const Format = {
  format: Type.Optional(oneOf(REPORT_FORMATS, 'json, csv or excel')),
  separator: Type.Optional(oneOf(Object.keys(SEPARATORS) as Separator[], 'comma, semicolon or tab')),
};
const FORMATS = 'as json, csv or excel (csv for Excel)';

const SETTLEMENT_COLUMNS = [
  ...(['partnerId', 'partner', 'ticketId', 'ticket', 'currency', 'price', 'sold', 'cancelled'] as const),
  ...(['soldAmount', 'cancelledAmount', 'netAmount'] as const),
];

const CANCELLATIONS_COLUMNS = [
  ...(['at', 'ticketId', 'ticket', 'partnerId', 'partner', 'currency', 'price'] as const),
  ...(['cancelled', 'cancelledAmount'] as const),
];
/** The hours of `reportRecentSales`: a day, and the one that is running. */
const RECENT_HOURS = 24;
const HOUR_MS = 3_600_000;

/** Operations that take the same time for an event of any size, so that a page can show them at any time. */
const ofNow = {
  reportFigures: queryOperation(
    'GET /events/{eventId}/reports/figures',
    'Show the seats of an event now, by ticket: sold, held and left, what they cost, and how many people came',
    'reportFigures',
    Type.Object({ eventId: Id }),
    async (db, { eventId }) => readFigures(db, await findEvent(db, eventId)),
  ),
  reportRecentSales: queryOperation(
    'GET /events/{eventId}/reports/recent-sales',
    'Count the seats of an event that were sold in the last 24 hours, by hour and ticket; many are estimated',
    'reportRecentSales',
    Type.Object({ eventId: Id }),
    async (db, { eventId }) => {
      const event = await findEvent(db, eventId);
      return readRecentSales(db, event, startOfHour(Date.now() - RECENT_HOURS * HOUR_MS, event.timeZone));
    },
  ),
};

/** Zones differ by quarters of an hour. */
function startOfHour(ms: number, timeZone: string | null) {
  const time = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone ?? 'UTC');
  return new Date(time.round({ smallestUnit: 'hour', roundingMode: 'floor' }).epochMilliseconds);
}

export const reportOperations = {
  ...ofNow,
  reportSales: queryOperation(
    'GET /events/{eventId}/reports/sales',
    `Count the sold and cancelled seats of an event by day or hour, ticket and partner, ${FORMATS}`,
    'reportSales',
    Type.Object({
      eventId: Id,
      by: Type.Optional(oneOf(STEPS, 'day or hour')),
      ...Period,
      ...Subject,
      ...Format,
    }),
    async (db, { eventId, by = 'day', from, until, partnerId, ticketId, ...shape }) => {
      const period = periodOf(from, until);
      const event = await findEvent(db, eventId);
      const rows = await readSales(db, event, { by, ...period, partnerId, ticketId });
      const columns = ['at', 'ticketId', 'ticket', 'partnerId', 'partner', 'sold', 'cancelled'] as const;
      return reportOf(event, columns, rows, shape);
    },
  ),
  reportSettlement: queryOperation(
    'GET /events/{eventId}/reports/settlement',
    `Sum what each partner sold and cancelled of an event, by ticket and price, ${FORMATS}`,
    'reportSettlement',
    Type.Object({ eventId: Id, ...Period, ...Subject, ...Format }),
    async (db, { eventId, from, until, partnerId, ticketId, ...shape }) => {
      const period = periodOf(from, until);
      const event = await findEvent(db, eventId);
      const rows = await readSettlement(db, event, { ...period, partnerId, ticketId });
      return reportOf(event, SETTLEMENT_COLUMNS, rows, shape);
    },
  ),
  reportCancellations: queryOperation(
    'GET /events/{eventId}/reports/cancellations',
    `Count what was cancelled of an event by day, ticket, partner and price, ${FORMATS}`,
    'reportCancellations',
    Type.Object({ eventId: Id, ...Period, ...Subject, ...Format }),
    async (db, { eventId, from, until, partnerId, ticketId, ...shape }) => {
      const period = periodOf(from, until);
      const event = await findEvent(db, eventId);
      const rows = await readCancellations(db, event, { ...period, partnerId, ticketId });
      return reportOf(event, CANCELLATIONS_COLUMNS, rows, shape);
    },
  ),
  reportAttendance: queryOperation(
    'GET /events/{eventId}/reports/attendance',
    `Count who was expected, who came and who did not, by ticket and partner, ${FORMATS}`,
    'reportAttendance',
    Type.Object({ eventId: Id, ...Subject, ...Format }),
    async (db, { eventId, partnerId, ticketId, ...shape }) => {
      const event = await findEvent(db, eventId);
      const rows = await readAttendance(db, event, { partnerId, ticketId });
      const counts = ['expected', 'came', 'noShows', 'cameAndCancelled'] as const;
      return reportOf(event, ['ticketId', 'ticket', 'partnerId', 'partner', ...counts], rows, shape);
    },
  ),
  reportAdmissions: queryOperation(
    'GET /events/{eventId}/reports/admissions',
    `Count the admissions of an event by quarter of an hour, gate and ticket, ${FORMATS}`,
    'reportAdmissions',
    Type.Object({ eventId: Id, ...Period, ...Subject, ...Format }),
    async (db, { eventId, from, until, partnerId, ticketId, ...shape }) => {
      const period = periodOf(from, until);
      const event = await findEvent(db, eventId);
      const rows = await readAdmissions(db, event, { ...period, partnerId, ticketId });
      const columns = ['at', 'gateId', 'gate', 'ticketId', 'ticket', 'admitted', 'arrived'] as const;
      return reportOf(event, columns, rows, shape);
    },
  ),
  registrationStory: queryOperation(
    'GET /registrations/{passReference}/story',
    'Show everything that happened to the seat of a registration, in order: sold, e-mailed, let in, changed, ' +
      'cancelled, and by whom',
    'registrationStory',
    Type.Object({ passReference: text(1, 255) }),
    async (db, { passReference }, caller) => ({
      passReference,
      story: await readStory(db, passReference, caller.may('audit:read')),
    }),
  ),
};

/** Returns the period between two times. None: without a bound. Throws InvalidInput if it ends before it starts. */
function periodOf(from: Date | null = null, until: Date | null = null) {
  if (from && until && from >= until) throw new InvalidInput({ until: 'a time after "from"' });
  return { from, until };
}

/** Returns a report as a document, or as a file for a spreadsheet. */
function reportOf<Row extends object>(
  { id, name, timeZone }: Event,
  columns: readonly (keyof Row & string)[],
  rows: Row[],
  { format = 'json', separator }: { format?: ReportFormat; separator?: Separator },
): Report<Row> | Response {
  if (format !== 'json') return csvFile(columns, rows, { format, separator });
  return { eventId: id, event: name, timeZone: timeZone ?? 'UTC', rows };
}
