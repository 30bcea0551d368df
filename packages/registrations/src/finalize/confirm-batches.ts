import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

/** Finalizes batches, all of them or none. Idempotent: what is confirmed or failed already stays as it is. */
export async function confirmBatches(db: Database, batchIds: readonly string[]): Promise<void> {
  await sql`
    update batches set state = 'confirmed', finished_at = now(), failure = null
    where id = any(${`{${batchIds.join(',')}}`}::uuid[]) and state = 'pending'`.execute(db);
}
