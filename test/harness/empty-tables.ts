import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import type { StoredTables } from './stored-tables.ts';

/** Deletes all rows of tables, so that a test does not read rows of earlier tests. */
export async function emptyTables(db: Database, ...tables: (keyof StoredTables)[]): Promise<void> {
  for (const table of tables) await sql`delete from ${sql.table(table)}`.execute(db);
}
