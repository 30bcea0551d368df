import { sql } from 'kysely';
import { Migrator, type Migration } from 'kysely/migration';
import type { Database } from '../connection/connect.ts';
import { assertSupported } from './assert-supported.ts';
import * as initial from './migrations/0001-initial.ts';
import * as audit from './migrations/0002-audit.ts';

/** In order, forward only, and never edited once merged. */
const MIGRATIONS: Record<string, Migration> = {
  '0001-initial': initial,
  '0002-audit': audit,
};

/**
 * Brings the schema up to date. Returns the names of the migrations that ran. Safe to run twice at once. Leaves a newer
 * schema as it is: an older release must be able to start on it again. Throws Failure where there can be none.
 */
export async function migrate(db: Database): Promise<string[]> {
  await assertSupported(db);
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(MIGRATIONS) } });
  const { error, results } = await migrator.migrateToLatest();
  // To Kysely, a migration that this release does not know is an error. Here it is one only where another is missing.
  if (error && !(await isMigrated(db))) throw error;
  return (results ?? []).map((result) => result.migrationName);
}

/**
 * Throws, saying what to do, where the schema is older than this code, or the database is none that can hold it. A newer
 * schema is fine (rolling deploys).
 */
export async function assertMigrated(db: Database): Promise<void> {
  await assertSupported(db);
  if (await isMigrated(db)) return;
  throw new Error('the database schema is missing or out of date; run "npm run floodgate -- migrate"');
}

/** Returns whether every migration that this code knows has run. */
async function isMigrated(db: Database): Promise<boolean> {
  const { rows: tables } = await sql<{ exists: boolean }>`
    select to_regclass('kysely_migration') is not null as exists`.execute(db);
  if (!tables[0]!.exists) return false;
  const { rows } = await sql`
    select from kysely_migration where name = any(${Object.keys(MIGRATIONS)})`.execute(db);
  return rows.length === Object.keys(MIGRATIONS).length;
}
