import type { Database, Schema } from '@floodgate/database';
import { sql } from 'kysely';

/** Deletes all rows of tables: what other tests have left there would be read as well. */
export async function emptyTables(db: Database, ...tables: (keyof Schema)[]): Promise<void> {
  for (const table of tables) await sql`delete from ${sql.table(table)}`.execute(db);
}
