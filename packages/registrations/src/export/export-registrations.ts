import { formatPassReference } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { findEvent } from '@floodgate/events';
import { sql, type RawBuilder } from 'kysely';
import { conditionOf, mailStateIn, type RegistrationFilter } from '../filter/filter.ts';
import { joinPrices, priceOf } from '../price/price-of.ts';
import { ATTENDEE_FIELDS } from '../register/reservation.ts';
import { ATTENDEE, STATE } from '../status/find-registrations.ts';

const PAGE = 50;
/** Registrations of any event that one statement reads at most: there is no index by event. */
const WINDOW = 50_000;

/** The columns of an export, in order. */
const COLUMNS = [
  'passReference',
  'state',
  'partnerId',
  'ticketId',
  'ticketTitle',
  'partner',
  'price',
  'currency',
  'reservedAt',
  'cancelledAt',
  'partnerReference',
  'mail',
  'admittedAt',
  'gate',
  ...ATTENDEE_FIELDS,
] as const;

type Exported = Record<(typeof COLUMNS)[number], string | number | Date | null>;

const CSV_TYPE = 'text/csv; charset=utf-8';
export const EXPORT_FORMATS = { csv: CSV_TYPE, excel: CSV_TYPE, ndjson: 'application/x-ndjson' } as const;

/** The characters that separate cells. Spreadsheets split by the list separator of the computer's region. */
export const SEPARATORS = { comma: ',', semicolon: ';', tab: '\t' } as const;

/** Without it, Excel reads a file as the encoding of the computer's region. */
export const BYTE_ORDER_MARK = '\uFEFF';

export interface ExportOptions {
  format: keyof typeof EXPORT_FORMATS;
  /** Of csv and excel; comma by default. */
  separator?: keyof typeof SEPARATORS | undefined;
  /** Which registrations; all of the event by default. */
  filter?: Omit<RegistrationFilter, 'eventId'>;
}

/**
 * Yields the registrations of an event with their attendees, by serial, in chunks of text. Needs constant
 * memory. Registrations that are made meanwhile may be missing. Throws Failure if there is no such event.
 */
export async function* exportRegistrations(
  db: Database,
  eventId: number,
  { format, separator = 'comma', filter = {} }: ExportOptions,
) {
  const { shardId, passPrefix: prefix, currency } = await findEvent(db, eventId);
  const isWanted = conditionOf({ ...filter, eventId }, shardId);
  const line = csvLines(SEPARATORS[separator]);
  if (format === 'excel') yield BYTE_ORDER_MARK;
  if (format !== 'ndjson') yield line(COLUMNS);
  for (let after = 0; ;) {
    const rows = await readPage(db, { shardId, eventId }, isWanted, after);
    if (rows.length === 0) {
      const end = await windowEnd(db, shardId, after);
      if (end === null) return;
      after = end;
      continue;
    }
    yield rows
      .map(({ serial, passCode, ...row }) => {
        const exported: Exported = {
          passReference: formatPassReference({ prefix, eventId, serial, passCode }),
          currency,
          ...row,
        };
        if (format === 'ndjson') return `${JSON.stringify(exported)}\n`;
        return line(COLUMNS.map((column) => exported[column]));
      })
      .join('');
    after = rows.at(-1)!.serial;
  }
}

/** The next registrations of a shard, of any event. */
const nextOf = (shardId: number, after: number) => sql`
  select * from registrations where shard_id = ${shardId} and serial > ${after} order by serial limit ${WINDOW}`;

/** Returns the last of the next WINDOW serials of a shard; null if there are none. */
async function windowEnd(db: Database, shardId: number, after: number) {
  const { rows } = await sql<{ end: number | null }>`
    select max(serial) as end from (${nextOf(shardId, after)}) next`.execute(db);
  return rows[0]!.end;
}

/** Reads the next registrations that are wanted, with what is known about each in other tables. */
async function readPage(
  db: Database,
  event: { shardId: number; eventId: number },
  isWanted: RawBuilder<boolean>,
  after: number,
) {
  const { shardId, eventId } = event;
  type Row = Omit<Exported, 'passReference' | 'currency'> & { serial: number; passCode: number };
  const { rows } = await sql<Row>`
    select r.serial, pass_code as "passCode", ${STATE} as state,
      r.partner_id as "partnerId", r.ticket_id as "ticketId", t.title as "ticketTitle", p.name as partner,
      ${priceOf(event)} as price, reserved_at as "reservedAt", cancelled_at as "cancelledAt",
      partner_reference as "partnerReference", ${mailStateIn(shardId, eventId)} as mail,
      a.at as "admittedAt", a.gate, ${ATTENDEE}
    from (
      select * from (${nextOf(shardId, after)}) r
      where ${isWanted}
      order by serial limit ${PAGE}
    ) r
    join batches b on b.shard_id = ${shardId} and b.id = r.batch_id
    join tickets t on t.shard_id = ${shardId} and t.id = r.ticket_id
    join partners p on p.id = r.partner_id
    ${joinPrices(event)}
    left join lateral (
      select first.at, g.name as gate from admissions first
      join gates g on g.shard_id = ${shardId} and g.id = first.gate_id
      where first.shard_id = ${shardId} and first.seat = coalesce(r.seat, r.serial) and first.undone_at is null
      order by first.at limit 1
    ) a on true
    order by r.serial`.execute(db);
  return rows;
}

/**
 * The start of what a spreadsheet can take for a formula: an operator, also a wide one, at the start of the
 * cell or after a separator, whatever stands before it that is not displayed. A spreadsheet of another region
 * splits cells by its own separator, quoted or not.
 */
const FORMULA =
  /(^|[,;\t|\r\n])(?=[\s\p{Default_Ignorable_Code_Point}\u2800]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/gu;

/**
 * Returns a function that writes a line of CSV (RFC 4180). All texts are quoted, and an apostrophe stands
 * before what a spreadsheet would take for a formula, phone numbers with "+" included. With semicolons, numbers
 * have a decimal comma: spreadsheets of regions that split by semicolons would take 12.50 for a date.
 */
export function csvLines(separator: string) {
  const decimal = separator === SEPARATORS.semicolon ? ',' : '.';
  const textOf = (text: string) => `"${text.replaceAll(FORMULA, "$1'").replaceAll('"', '""')}"`;
  const cellOf = (cell: Exported[keyof Exported]) => {
    if (typeof cell === 'string') return textOf(cell);
    if (typeof cell === 'number') return String(cell).replace('.', decimal);
    return cell instanceof Date ? cell.toISOString() : '';
  };
  return (cells: readonly Exported[keyof Exported][]) => `${cells.map(cellOf).join(separator)}\r\n`;
}
