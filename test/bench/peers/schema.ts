import type { Database } from '@floodgate/database';
import { sql } from 'kysely';

/**
 * Creates the peers' counterpart of Floodgate's `registrations`: the same columns and checks, with a state per row
 * instead of a batch. The tickets are Floodgate's.
 */
export async function createPeerRegistrations(db: Database): Promise<void> {
  // reserved_at is the time of the insert and not of the transaction's begin, which may have waited for the ticket:
  // that wait is not one for the worker. Half of each page stays free, so that confirming a row stays on its page (HOT)
  // and no index is touched.
  await sql`
    create table peer_registrations (
      serial bigint generated always as identity primary key,
      state text not null default 'reserved' check (state in ('reserved', 'confirmed', 'failed')),
      reserved_at timestamptz not null default clock_timestamp(),
      finished_at timestamptz,
      cancelled_at timestamptz,
      pass_code bigint not null,
      partner_id integer not null,
      event_id integer not null,
      ticket_id integer not null,
      full_name text not null check (octet_length(full_name) between 1 and 4 * 255),
      email_address text not null check (octet_length(email_address) <= 254),
      phone_number text check (octet_length(phone_number) <= 32),
      gender text check (octet_length(gender) <= 4 * 32),
      table_or_seat text check (octet_length(table_or_seat) <= 4 * 64),
      extra_data_1 text check (octet_length(extra_data_1) <= 4 * 1000),
      extra_data_2 text check (octet_length(extra_data_2) <= 4 * 1000)
    ) with (fillfactor = 50)`.execute(db);
}
