import { sql } from 'kysely';
import type { Database } from '@floodgate/database';
import type { QueueBacklog } from '@floodgate/queue';

/** What is waiting for finalization, as Postgres knows it. */
export interface Backlog extends QueueBacklog {
  pendingBatches: number;
  failedBatches: number;
  /** Of a batch that was redriven, since its redrive. */
  oldestPendingMs: number | null;
}

/** Returns the backlog of now. */
export async function readBacklog(db: Database): Promise<Backlog> {
  const { rows } = await sql<Backlog>`
    select
      (select count(*)::integer from batches where state = 'pending') as "pendingBatches",
      (select count(*)::integer from batches where state = 'failed') as "failedBatches",
      (select (extract(epoch from clock_timestamp() - min(pending_since)) * 1000)::float8
         from batches where state = 'pending') as "oldestPendingMs"`.execute(db);
  return rows[0]!;
}
