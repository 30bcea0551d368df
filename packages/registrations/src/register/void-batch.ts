import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

/**
 * Settles the fate of a batch whose connection was lost. Either it has committed: then these are its registrations.
 * Or its id is taken from it here, so that it never will, even if its statement is still on its way (undefined).
 * Waits for a statement that has got as far as its batch row.
 */
export async function voidBatch(db: Database, shardId: number, batchId: string) {
  await sql`
    insert into batches (shard_id, id, state, size, first_serial, last_serial, relay_at, finished_at)
    values (${shardId}, ${batchId}::uuid, 'void', 0, 0, 0, now(), now())
    on conflict (shard_id, id) do nothing`.execute(db);
  const registrations = await findBatch(db, shardId, batchId);
  return registrations.length > 0 ? registrations : undefined;
}

/** The registration that a committed batch made for one of its positions. */
export interface CommittedRegistration {
  /** 1-based, as the batch's input is numbered. */
  position: number;
  serial: number;
  passCode: number;
}

/** The registrations of a committed batch; empty where no such batch has committed. */
export async function findBatch(db: Database, shardId: number, batchId: string) {
  const { rows } = await sql<CommittedRegistration>`
    select position, serial, pass_code as "passCode"
    from batches b
    join registrations r
      on r.shard_id = b.shard_id and serial between first_serial and last_serial and batch_id = b.id
    where b.shard_id = ${shardId} and b.id = ${batchId}::uuid`.execute(db);
  return rows;
}
