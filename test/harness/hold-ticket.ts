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
  const { shard_id } = await db
    .selectFrom('tickets')
    .select('shard_id')
    .where('id', '=', ticketId)
    .executeTakeFirstOrThrow();
  // Of one shard only: Citus locks no row across all of them.
  await sql`select from tickets where shard_id = ${shard_id} and id = ${ticketId} for update`.execute(rival);
  return {
    waiters: (count) => waitForLockWaiters(db, count),
    release: () => rival.rollback().execute(),
    delete: async () => {
      await rival.deleteFrom('tickets').where('shard_id', '=', shard_id).where('id', '=', ticketId).execute();
      await rival.commit().execute();
    },
  };
}
