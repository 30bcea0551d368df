import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

/** Gives a pending batch up: its registrations read `failed` and keep their seats until an operator redrives it. */
export async function failBatch(db: Database, batchId: string, failure: string): Promise<boolean> {
  const failed = await db
    .updateTable('batches')
    .set({ state: 'failed', finished_at: sql<Date>`now()`, failure })
    .where('id', '=', batchId)
    .where('state', '=', 'pending')
    .returning('id')
    .executeTakeFirst();
  return failed !== undefined;
}
