import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

/** Takes a lease back after the queue refused the batches: they are due again after `delayMs`, and it does not count. */
export async function returnLease(db: Database, batchIds: readonly string[], delayMs: number): Promise<void> {
  await sql`
    update batches set relay_at = now() + make_interval(secs => ${delayMs / 1000}), enqueues = enqueues - 1
    where id = any(${batchIds}::uuid[]) and state = 'pending'`.execute(db);
}
