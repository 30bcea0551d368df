import type { Database } from '@floodgate/database';
import { sql } from 'kysely';

/**
 * Creates the peers' counterpart of Floodgate's `registrations`: the same columns and types, with a state per row
 * instead of a batch. The tickets are Floodgate's.
 */
export async function createPeerRegistrations(db: Database): Promise<void> {
  // reserved_at is the time of the insert and not of the transaction's begin, which may have waited for the ticket:
  // that wait is not one for the worker. Half of each page stays free, so that confirming a row stays on its page (HOT)
  // and no index is touched.
  await sql`
    create table peer_registrations (
      serial bigint generated always as identity primary key,
      state batch_state not null default 'pending',
      reserved_at timestamptz not null default clock_timestamp(),
      finished_at timestamptz,
      cancelled_at timestamptz,
      pass_code bigint not null,
      partner_id integer not null,
      event_id integer not null,
      ticket_id integer not null,
      full_name varchar(1020) not null,
      email_address varchar(254) not null,
      phone_number varchar(32),
      gender varchar(128),
      table_or_seat varchar(256),
      extra_data_1 varchar(4000),
      extra_data_2 varchar(4000)
    ) with (fillfactor = 50)`.execute(db);
}
