import { formatPassReference } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { findEvent } from '@floodgate/events';
import { sql } from 'kysely';
import { ATTENDEE_FIELDS } from '../register/reserve-batch.ts';
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
  'reservedAt',
  'cancelledAt',
  ...ATTENDEE_FIELDS,
] as const;

type Exported = Record<(typeof COLUMNS)[number], string | number | Date | null>;

export const EXPORT_FORMATS = { csv: 'text/csv; charset=utf-8', ndjson: 'application/x-ndjson' } as const;

/**
 * Yields all registrations of an event with their attendees, by serial, in chunks of text. Needs constant memory. Registrations that are
 * made meanwhile may be missing. Throws Failure if there is no such event.
 */
export async function* exportRegistrations(
  db: Database,
  eventId: number,
  format: keyof typeof EXPORT_FORMATS,
) {
  const { shardId, passPrefix: prefix } = await findEvent(db, eventId);
  if (format === 'csv') yield csvLine(COLUMNS);
  for (let after = 0; ;) {
    const rows = await readPage(db, shardId, eventId, after);
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
          ...row,
        };
        if (format === 'ndjson') return `${JSON.stringify(exported)}\n`;
        return csvLine(COLUMNS.map((column) => exported[column]));
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

async function readPage(db: Database, shardId: number, eventId: number, after: number) {
  const { rows } = await sql<Omit<Exported, 'passReference'> & { serial: number; passCode: number }>`
    select r.serial, pass_code as "passCode",
      ${STATE} as state,
      r.partner_id as "partnerId", ticket_id as "ticketId", t.title as "ticketTitle", reserved_at as "reservedAt",
      cancelled_at as "cancelledAt", ${ATTENDEE}
    from (
      select * from (${nextOf(shardId, after)}) next
      where event_id = ${eventId}
      order by serial limit ${PAGE}
    ) r
    join batches b on b.shard_id = ${shardId} and b.id = r.batch_id
    join tickets t on t.shard_id = ${shardId} and t.id = r.ticket_id
    order by r.serial`.execute(db);
  return rows;
}

/** Characters at the start of a cell that a spreadsheet takes for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * Returns a line of CSV (RFC 4180). A cell that a spreadsheet would take for a formula gets an apostrophe in front, phone numbers with
 * "+" included.
 */
export function csvLine(cells: readonly Exported[keyof Exported][]) {
  const texts = cells.map((cell) => {
    const text = cell instanceof Date ? cell.toISOString() : String(cell ?? '');
    const safe = typeof cell === 'string' && FORMULA.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  });
  return `${texts.join(',')}\r\n`;
}
