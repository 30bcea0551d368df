import { type Database } from '@floodgate/database';
import { sql } from 'kysely';
import { onTestFinished } from 'vitest';
import { connectInTest } from './connect-in-test.ts';

/** Returns Postgres's count of rows of a table that it reads during `work`, including rows that a filter drops. */
export async function rowsRead(
  url: string,
  work: (db: Database) => Promise<unknown>,
  table = 'journal_segments',
): Promise<number> {
  const one = connectInTest(url);
  onTestFinished(() => one.destroy());
  // The counters of one transaction exclude reads of others.
  return one.transaction().execute(async (transaction) => {
    await work(transaction);
    const { rows } = await sql<{ read: number }>`
      select seq_tup_read + coalesce(idx_tup_fetch, 0) as read
      from pg_stat_xact_user_tables where relname = ${table}`.execute(transaction);
    return rows[0]!.read;
  });
}
