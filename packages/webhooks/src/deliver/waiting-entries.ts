import { formatTimestamp } from '@floodgate/contract';
import { plainArray, type Database } from '@floodgate/database';
import type { JournalEntry } from '@floodgate/journal';
import { sql } from 'kysely';

export const isOfWaitingList = ({ kind }: JournalEntry) => kind.startsWith('waiting.');

/**
 * Returns the waiting list's entry of each journal entry as it is sent, without its contact. Undefined: it was deleted. Has no value that
 * changes later, because a message that is sent again must be the same.
 */
export async function waitingEntriesOf(db: Database, shardId: number, entries: readonly JournalEntry[]) {
  if (entries.length === 0) return [];
  const serials = plainArray(entries.map(({ serial }) => serial!));
  type Row = { serial: number; expiresAt: Date | null } & Record<string, unknown>;
  const { rows } = await sql<Row>`
    select serial, id, ticket_id as "ticketId", seats, partner_reference as "partnerReference", expires_at as "expiresAt"
    from waiting_entries where shard_id = ${shardId} and serial = any(${serials}::bigint[])`.execute(db);
  const bySerial = new Map(rows.map((row) => [row.serial, row]));
  return entries.map(({ serial, kind, eventId, at }) => {
    const row = bySerial.get(serial!);
    if (!row) return undefined;
    const { id, ticketId, seats, partnerReference, expiresAt } = row;
    // An entry that has just joined can have an offer by now.
    const dateExpires = kind === 'waiting.joined' ? null : expiresAt && formatTimestamp(expiresAt);
    const ticket = { organizedEventID: eventId, organizedEventTicketID: ticketId };
    return { entry: id, ...ticket, seats, partnerReference, dateExpires, dateChanged: formatTimestamp(at) };
  });
}
