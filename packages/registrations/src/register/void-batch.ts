import { sql } from 'kysely';
import type { Database } from '@floodgate/database';
import { findBatch, type CommittedRegistration } from './find-batch.ts';

/**
 * Settles the fate of a batch whose connection was lost. Either it has committed: then these are its registrations.
 * Or its id is taken from it here, so that it never will, even if its statement is still on its way (undefined).
 * Waits for a statement that has got as far as its batch row.
 */
export async function voidBatch(db: Database, batchId: string): Promise<CommittedRegistration[] | undefined> {
  await sql`
    insert into batches (id, state, size, first_serial, last_serial, relay_at, finished_at)
    values (${batchId}::uuid, 'void', 0, 0, 0, now(), now())
    on conflict (id) do nothing`.execute(db);
  const registrations = await findBatch(db, batchId);
  return registrations.length > 0 ? registrations : undefined;
}
