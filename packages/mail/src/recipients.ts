import { plainArray, type Database } from '@floodgate/database';
import { sql } from 'kysely';
import type { MailEvent } from './mail-event.ts';

/** Who gets an e-mail, and what about. */
export interface Recipient {
  serial: number;
  passCode: number;
  ticketId: number;
  ticketTitle: string;
  fullName: string;
  emailAddress: string;
  seat: string | null;
  isCancelled: boolean;
}

/** Reads who made these registrations of an event; those that are not there are missing. */
export async function readRecipients(
  db: Database,
  { shardId, id }: Pick<MailEvent, 'shardId' | 'id'>,
  serials: readonly number[],
): Promise<Recipient[]> {
  // One by one, each by its key, as registrations are found elsewhere.
  const { rows } = await sql<Recipient>`
    select r.serial, r.pass_code as "passCode", r.ticket_id as "ticketId", t.title as "ticketTitle",
      r.full_name as "fullName", r.email_address as "emailAddress", r.table_or_seat as seat,
      r.cancelled_at is not null as "isCancelled"
    from unnest(${plainArray(serials)}::bigint[]) as query (serial)
    cross join lateral (
      select serial, pass_code, ticket_id, full_name, email_address, table_or_seat, cancelled_at from registrations
      where shard_id = ${shardId} and serial = query.serial and event_id = ${id}
      offset 0
    ) r
    cross join lateral (
      select title from tickets where shard_id = ${shardId} and id = r.ticket_id offset 0
    ) t`.execute(db);
  return rows;
}

/** Names that never lead anywhere (RFC 2606): what is sent to them is a mistake, or a test. */
const RESERVED = /\.(?:invalid|example|test)\.?$/i;

/** Returns whether an address is one that nobody can have. */
export const isReserved = (address: string) => RESERVED.test(address);
