import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import { waitUntil } from './wait-until.ts';

/** Resolves when exactly this many statements wait for a lock in this database. */
export async function waitForLockWaiters(db: Database, count: number): Promise<void> {
  await waitUntil(`${count} statements wait for a lock`, async () => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
      db,
    );
    return rows.length === count;
  });
}
