import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import { waitForLockWaiters } from './lock-waiters.ts';

/** A ticket row that another transaction locks, so that its reservations wait. */
export interface HeldTicket {
  /** Resolves when this number of statements wait. */
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
  // With the shard id: Citus cannot lock rows across all shards.
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
