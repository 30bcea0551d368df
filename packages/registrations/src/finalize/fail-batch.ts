import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

/** Gives a pending batch up: its registrations read `failed` and keep their seats until an operator redrives it. */
export async function failBatch(db: Database, batchId: string, failure: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update batches set state = 'failed', finished_at = now(), failure = ${failure}
    where id = ${batchId}::uuid and state = 'pending'`.execute(db);
  return numAffectedRows === 1n;
}
