import { connect, type Database } from '@floodgate/database';
import { sql } from 'kysely';
import { onTestFinished } from 'vitest';

/** Returns how many rows of a table Postgres reads during `work`, by its own count. Rows that a filter drops are included. */
export async function rowsRead(
  url: string,
  work: (db: Database) => Promise<unknown>,
  table = 'journal_segments',
): Promise<number> {
  const one = connect({ connectionString: url, applicationName: 'tests', maxConnections: 1 });
  onTestFinished(() => one.destroy());
  // The counters of one transaction, so that reads of others do not count.
  return one.transaction().execute(async (transaction) => {
    await work(transaction);
    const { rows } = await sql<{ read: number }>`
      select seq_tup_read + coalesce(idx_tup_fetch, 0) as read
      from pg_stat_xact_user_tables where relname = ${table}`.execute(transaction);
    return rows[0]!.read;
  });
}
