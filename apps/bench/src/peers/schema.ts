import type { Database } from '@floodgate/database';
import { sql } from 'kysely';

/**
 * Creates the peers' `registrations`: Floodgate's columns and types, with a state per row in place of a batch. Peers use Floodgate's
 * tickets.
 */
export async function createPeerRegistrations(db: Database): Promise<void> {
  // reserved_at is the time of the insert and not of the transaction's begin, which may have waited for the ticket:
  // that wait is not one for the worker. Half of each page stays free, so that confirming a row stays on its page (HOT)
  // and no index is touched.
  await sql`
    create table peer_registrations (like registrations including defaults including identity)
    with (fillfactor = 50)`.execute(db);
  await sql`
    alter table peer_registrations
      drop column batch_id, drop column position, drop column attendee_digest,
      alter column reserved_at set default clock_timestamp(),
      add column state batch_state not null default 'pending',
      add column finished_at timestamptz,
      add primary key (serial)`.execute(db);
}
