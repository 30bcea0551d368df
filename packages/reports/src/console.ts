import { Type } from '@sinclair/typebox';
import { Id, instantOrNull, oneOf, text } from '@floodgate/audit';
import { findEvent, type Event } from '@floodgate/events';
import { operationsOn } from '@floodgate/operators';
import { SEPARATORS } from '@floodgate/registrations/export';
import { InvalidInput } from '@floodgate/service/failure';
import { readAdmissions, readAttendance } from './attendance.ts';
import { readSales, STEPS } from './sales.ts';
import { readSettlement } from './settlement.ts';
import { readStory } from './story.ts';
import { csvFile, REPORT_FORMATS, type ReportFormat, type Separator } from './table.ts';

export type { AdmissionsRow, AttendanceRow } from './attendance.ts';
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
const Format = {
  format: Type.Optional(oneOf(REPORT_FORMATS, 'json, csv or excel')),
  separator: Type.Optional(oneOf(Object.keys(SEPARATORS) as Separator[], 'comma, semicolon or tab')),
};
const FORMATS = 'as json, csv or excel (csv for Excel)';

const SETTLEMENT_COLUMNS = [
  ...(['partnerId', 'partner', 'ticketId', 'ticket', 'currency', 'price', 'sold', 'cancelled'] as const),
  ...(['soldAmount', 'cancelledAmount', 'netAmount'] as const),
];

export const reportOperations = {
  reportSales: queryOperation(
    'GET /events/{eventId}/reports/sales',
    `Count the sold and cancelled seats of an event by day or hour, ticket and partner, ${FORMATS}`,
    'reportSales',
    Type.Object({ eventId: Id, by: Type.Optional(oneOf(STEPS, 'day or hour')), ...Period, ...Format }),
    async (db, { eventId, by = 'day', from, until, ...shape }) => {
      const period = periodOf(from, until);
      const event = await findEvent(db, eventId);
      const rows = await readSales(db, event, { by, ...period });
      const columns = ['at', 'ticketId', 'ticket', 'partnerId', 'partner', 'sold', 'cancelled'] as const;
      return reportOf(event, columns, rows, shape);
    },
  ),
  reportSettlement: queryOperation(
    'GET /events/{eventId}/reports/settlement',
    `Sum what each partner sold and cancelled of an event, by ticket and price, ${FORMATS}`,
    'reportSettlement',
    Type.Object({ eventId: Id, ...Period, ...Format }),
    async (db, { eventId, from, until, ...shape }) => {
      const period = periodOf(from, until);
      const event = await findEvent(db, eventId);
      return reportOf(event, SETTLEMENT_COLUMNS, await readSettlement(db, event, period), shape);
    },
  ),
  reportAttendance: queryOperation(
    'GET /events/{eventId}/reports/attendance',
    `Count who was expected, who came and who did not, by ticket and partner, ${FORMATS}`,
    'reportAttendance',
    Type.Object({ eventId: Id, ...Format }),
    async (db, { eventId, ...shape }) => {
      const event = await findEvent(db, eventId);
      const rows = await readAttendance(db, event);
      const counts = ['expected', 'came', 'noShows', 'cameAndCancelled'] as const;
      return reportOf(event, ['ticketId', 'ticket', 'partnerId', 'partner', ...counts], rows, shape);
    },
  ),
  reportAdmissions: queryOperation(
    'GET /events/{eventId}/reports/admissions',
    `Count the admissions of an event by quarter of an hour, gate and ticket, ${FORMATS}`,
    'reportAdmissions',
    Type.Object({ eventId: Id, ...Format }),
    async (db, { eventId, ...shape }) => {
      const event = await findEvent(db, eventId);
      const rows = await readAdmissions(db, event);
      return reportOf(event, ['at', 'gateId', 'gate', 'ticketId', 'ticket', 'admitted'], rows, shape);
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
