import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import { waitUntil } from './wait-until.ts';

/** A ticket's row that a rival transaction holds, so that reservations on it wait. */
export interface HeldTicket {
  /** Resolves when this many statements are waiting. */
  waiters(count: number): Promise<void>;
  release(): Promise<void>;
}

export async function holdTicket(db: Database, ticketId: number): Promise<HeldTicket> {
  const rival = await db.startTransaction().execute();
  await sql`select from tickets where id = ${ticketId} for update`.execute(rival);
  return {
    waiters: async (count) => {
      await waitUntil(`${count} statements wait for ticket ${ticketId}`, async () => {
        const { rows } = await sql`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
          db,
        );
        return rows.length === count;
      });
    },
    release: () => rival.rollback().execute(),
  };
}
