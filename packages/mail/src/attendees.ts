import { plainArray } from '@floodgate/database';
import type { Delivery, Loaded } from '@floodgate/deliveries';
import { findEvent, type Event } from '@floodgate/events';
import { sql } from 'kysely';
import { findRefusals, type LoadOptions } from './suppressions.ts';

/** An attendee, with what e-mails say about their registration. */
export interface Attendee {
  event: Event;
  serial: number;
  passCode: number;
  ticketId: number;
  ticketTitle: string;
  fullName: string;
  emailAddress: string;
  seat: string | null;
}

/** Loads the attendees of deliveries whose subjects are registrations of one event. Registrations that do not exist are missing. */
export async function loadAttendees(
  options: LoadOptions,
  deliveries: readonly Delivery[],
): Promise<Loaded<Attendee>> {
  const event = await findEvent(options.db, deliveries[0]!.eventId);
  // One by one, each by its key (offset 0).
  const { rows } = await sql<Omit<Attendee, 'event'> & { isCancelled: boolean }>`
    select r.serial, r.pass_code as "passCode", r.ticket_id as "ticketId", t.title as "ticketTitle",
      r.full_name as "fullName", r.email_address as "emailAddress", r.table_or_seat as seat,
      r.cancelled_at is not null as "isCancelled"
    from unnest(${plainArray(deliveries.map(({ subject }) => subject))}::bigint[]) as query (serial)
    cross join lateral (
      select serial, pass_code, ticket_id, full_name, email_address, table_or_seat, cancelled_at from registrations
      where shard_id = ${event.shardId} and serial = query.serial and event_id = ${event.id}
      offset 0
    ) r
    cross join lateral (
      select title from tickets where shard_id = ${event.shardId} and id = r.ticket_id offset 0
    ) t`.execute(options.db);
  const addresses = rows.map(({ emailAddress }) => emailAddress);
  const refusals = await findRefusals(options, event.mode, addresses);
  const loaded: Loaded<Attendee> = new Map();
  for (const [index, { isCancelled, ...row }] of rows.entries()) {
    const state = isCancelled ? 'cancelled' : 'suppressed';
    const reason = isCancelled ? 'cancelled' : refusals[index];
    loaded.set(String(row.serial), reason ? { outcome: { state, reason } } : { item: { ...row, event } });
  }
  return loaded;
}
