import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import { waitForLockWaiters } from './lock-waiters.ts';

/** A ticket's row that a rival transaction holds, so that reservations on it wait. */
export interface HeldTicket {
  /** Resolves when this many statements are waiting. */
  waiters(count: number): Promise<void>;
  release(): Promise<void>;
  /** Deletes the ticket and commits. */
  delete(): Promise<void>;
}

export async function holdTicket(db: Database, ticketId: number): Promise<HeldTicket> {
  const rival = await db.startTransaction().execute();
  await sql`select from tickets where id = ${ticketId} for update`.execute(rival);
  return {
    waiters: (count) => waitForLockWaiters(db, count),
    release: () => rival.rollback().execute(),
    delete: async () => {
      await rival.deleteFrom('tickets').where('id', '=', ticketId).execute();
      await rival.commit().execute();
    },
  };
}
