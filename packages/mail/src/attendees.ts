import { plainArray, type Database } from '@floodgate/database';
import type { Delivery, Loaded } from '@floodgate/deliveries';
import { sql } from 'kysely';
import { findMailEvent, type MailEvent } from './mail-event.ts';
import { digestOf, findSuppressed } from './suppressions.ts';

/** An attendee, with what e-mails say about their registration. */
export interface Attendee {
  event: MailEvent;
  serial: number;
  passCode: number;
  ticketId: number;
  ticketTitle: string;
  fullName: string;
  emailAddress: string;
  seat: string | null;
}

export interface LoadOptions {
  db: Database;
  /** Whether what is sent leaves this machine. */
  isOutside: boolean;
}

/** Loads the attendees of deliveries whose subjects are registrations of one event. */
export async function loadAttendees(
  { db, isOutside }: LoadOptions,
  deliveries: readonly Delivery[],
): Promise<Loaded<Attendee>> {
  const event = await findMailEvent(db, deliveries[0]!.eventId);
  if (!event) return new Map();
  const rows = await readRegistrations(db, event, deliveries);
  const digests = rows.map(({ emailAddress }) => digestOf(emailAddress));
  const suppressed = await findSuppressed(db, digests);
  const loaded: Loaded<Attendee> = new Map();
  for (const [index, { isCancelled, ...row }] of rows.entries()) {
    const reason = suppressed.has(digests[index]!)
      ? 'suppressed'
      : isOutside && event.mode === 'test'
        ? 'test event'
        : isOutside && isReserved(row.emailAddress) && 'reserved address';
    const subject = String(row.serial);
    if (isCancelled) loaded.set(subject, { outcome: { state: 'cancelled', reason: 'cancelled' } });
    else if (reason) loaded.set(subject, { outcome: { state: 'suppressed', reason } });
    else loaded.set(subject, { item: { ...row, event } });
  }
  return loaded;
}

/** Reads registrations one by one, each by its key. Those that do not exist are missing. */
async function readRegistrations(db: Database, { shardId, id }: MailEvent, deliveries: readonly Delivery[]) {
  const { rows } = await sql<Omit<Attendee, 'event'> & { isCancelled: boolean }>`
    select r.serial, r.pass_code as "passCode", r.ticket_id as "ticketId", t.title as "ticketTitle",
      r.full_name as "fullName", r.email_address as "emailAddress", r.table_or_seat as seat,
      r.cancelled_at is not null as "isCancelled"
    from unnest(${plainArray(deliveries.map(({ subject }) => subject))}::bigint[]) as query (serial)
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

/** Top-level domains that never exist (RFC 2606): an address there is a mistake or a test. */
const RESERVED = /\.(?:invalid|example|test)\.?$/i;

export const isReserved = (address: string) => RESERVED.test(address);

/** A URL, or what e-mail programs take for one: "win.example". */
const URL_LIKE = /:\/\/|\bwww\.|[\p{L}\p{N}][.\u3002\uff0e\uff61]\p{L}{2,}/iu;

/** Returns the name; null if it contains a URL. Anybody can register any address, and the e-mail would carry their link. */
export const greetingName = ({ fullName }: Pick<Attendee, 'fullName'>) =>
  URL_LIKE.test(fullName) ? null : fullName;
