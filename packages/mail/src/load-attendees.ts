import { plainArray, type Database } from '@floodgate/database';
import type { Delivery, Loaded, Outcome } from '@floodgate/deliveries';
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
  const rows = await readRegistrations(
    db,
    event,
    deliveries.map(({ subject }) => subject),
  );
  const digests = new Map(rows.map(({ serial, emailAddress }) => [serial, digestOf(emailAddress)]));
  const suppressed = await findSuppressed(db, [...digests.values()]);
  const instead = ({ serial, emailAddress, isCancelled }: Registration): Outcome | null => {
    if (isCancelled) return { state: 'cancelled', reason: 'cancelled' };
    if (suppressed.has(digests.get(serial)!)) return { state: 'suppressed', reason: 'suppressed' };
    if (isOutside && event.mode === 'test') return { state: 'suppressed', reason: 'test event' };
    return isOutside && isReserved(emailAddress) ? { state: 'suppressed', reason: 'reserved address' } : null;
  };
  return new Map(
    rows.map((row) => {
      const outcome = instead(row);
      return [String(row.serial), outcome ? { outcome } : { item: { ...row, event } }];
    }),
  );
}

type Registration = Omit<Attendee, 'event'> & { isCancelled: boolean };

/** Reads registrations one by one, each by its key. Those that do not exist are missing. */
async function readRegistrations(
  db: Database,
  { shardId, id }: MailEvent,
  serials: readonly string[],
): Promise<Registration[]> {
  const { rows } = await sql<Registration>`
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

/** Top-level domains that never exist (RFC 2606): an address there is a mistake or a test. */
const RESERVED = /\.(?:invalid|example|test)\.?$/i;

export const isReserved = (address: string) => RESERVED.test(address);

/** A URL, or what e-mail programs take for one: "win.example". */
const URL_LIKE = /:\/\/|\bwww\.|[\p{L}\p{N}][.\u3002\uff0e\uff61]\p{L}{2,}/iu;

/** Returns the name; null if it contains a URL. Anybody can register any address, and the e-mail would carry their link. */
export const greetingName = ({ fullName }: Pick<Attendee, 'fullName'>) =>
  URL_LIKE.test(fullName) ? null : fullName;
