import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

/** What is waiting for finalization, as Postgres knows it. */
export interface Backlog {
  pendingBatches: number;
  failedBatches: number;
  /** For how long the oldest pending batch has been so, since its redrive if it was redriven; null where none is pending. */
  oldestPendingMs: number | null;
}

export async function readBacklog(db: Database): Promise<Backlog> {
  const { rows } = await sql<Backlog>`
    select
      (select count(*)::integer from batches where state = 'pending') as "pendingBatches",
      (select count(*)::integer from batches where state = 'failed') as "failedBatches",
      (select (extract(epoch from clock_timestamp() - min(pending_since)) * 1000)::float8
         from batches where state = 'pending') as "oldestPendingMs"`.execute(db);
  return rows[0]!;
}
