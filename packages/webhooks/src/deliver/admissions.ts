import { formatPassReference, formatTimestamp } from '@floodgate/contract';
import { plainArray, type Database } from '@floodgate/database';
import type { JournalEntry } from '@floodgate/journal';
import { sql } from 'kysely';

export const isAdmission = ({ kind }: JournalEntry) => kind.startsWith('admitted');

/**
 * Returns the admission of each journal entry as it is sent. Undefined: it was deleted. Has no value that changes later, because a message
 * that is sent again must be the same.
 */
export async function admissionsOf(db: Database, shardId: number, entries: readonly JournalEntry[]) {
  if (entries.length === 0) return [];
  const serials = plainArray(entries.map(({ serial }) => serial!));
  type Row = Record<'serial' | 'registration' | 'ticketId' | 'passCode', number> & {
    prefix: string;
    gate: string;
    admittedAt: Date;
  };
  const { rows } = await sql<Row>`
    select a.serial, a.registration, r.ticket_id as "ticketId", r.pass_code as "passCode", e.pass_prefix as prefix,
      g.name as gate, a.at as "admittedAt"
    from admissions a
    join registrations r on r.shard_id = a.shard_id and r.serial = a.registration
    join gates g on g.shard_id = a.shard_id and g.id = a.gate_id
    join events e on e.id = a.event_id
    where a.shard_id = ${shardId} and a.serial = any(${serials}::bigint[])`.execute(db);
  const bySerial = new Map(rows.map((row) => [row.serial, row]));
  return entries.map(({ serial, eventId, at }) => {
    const row = bySerial.get(serial!);
    if (!row) return undefined;
    const { registration, ticketId, gate, admittedAt, ...reference } = row;
    const passReference = formatPassReference({ ...reference, eventId, serial: registration });
    const ticket = { organizedEventID: eventId, organizedEventTicketID: ticketId };
    const times = { dateAdmitted: formatTimestamp(admittedAt), dateChanged: formatTimestamp(at) };
    return { passReference, ...ticket, gate, ...times };
  });
}
