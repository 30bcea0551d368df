import { sql } from 'kysely';
import { Migrator, type Migration } from 'kysely/migration';
import type { Database } from './connect.ts';
import * as initial from './migrations/0001-initial.ts';

/** In order, forward only, and never edited once merged. */
const MIGRATIONS: Record<string, Migration> = {
  '0001-initial': initial,
};

const latest = Object.keys(MIGRATIONS).at(-1)!;

/** Brings the schema up to date and answers the names of the migrations that ran. Safe to run twice at once. */
export async function migrate(db: Database): Promise<string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(MIGRATIONS) } });
  const { error, results } = await migrator.migrateToLatest();
  if (error) throw error;
  return (results ?? []).map((result) => result.migrationName);
}

/** Throws, saying what to do, where the schema is older than this code. A newer one is fine (rolling deploys). */
export async function assertMigrated(db: Database): Promise<void> {
  const { rows } = await sql<{ exists: boolean }>`
    select to_regclass('kysely_migration') is not null as exists`.execute(db);
  const done =
    rows[0]?.exists && (await sql`select from kysely_migration where name = ${latest}`.execute(db));
  if (!done || done.rows.length === 0) {
    throw new Error('the database schema is missing or out of date; run "npm run floodgate -- migrate"');
  }
}
