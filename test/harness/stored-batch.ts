import type { Database } from '@floodgate/database';
import { sql } from 'kysely';

/** Returns the registrations of a batch, by position. */
export async function registrationsOfBatch(db: Database, shardId: number, batchId: string) {
  const { rows } = await sql<{ position: number; serial: number; passCode: number }>`
    select position, serial, pass_code as "passCode" from registrations
    where shard_id = ${shardId} and batch_id = ${batchId}::uuid order by position`.execute(db);
  return rows;
}
