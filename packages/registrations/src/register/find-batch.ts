import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

/** The registration that a committed batch made for one of its positions. */
export interface CommittedRegistration {
  /** 1-based, as the batch statement numbers its input. */
  position: number;
  serial: number;
  passCode: number;
}

/** The registrations of a committed batch; empty where no such batch has committed. */
export async function findBatch(db: Database, batchId: string): Promise<CommittedRegistration[]> {
  const { rows } = await sql<CommittedRegistration>`
    select position, serial, pass_code as "passCode"
    from batches
    join registrations on serial between first_serial and last_serial and batch_id = batches.id
    where batches.id = ${batchId}::uuid`.execute(db);
  return rows;
}
