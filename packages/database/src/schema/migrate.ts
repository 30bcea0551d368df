import { Failure } from '@floodgate/service/failure';
import { sql } from 'kysely';
import { Migrator, type Migration } from 'kysely/migration';
import type { Database } from '../connection/connect.ts';
import * as initial from './migrations/0001-initial.ts';
import * as audit from './migrations/0002-audit.ts';
import * as shards from './migrations/0003-shards.ts';
import * as reserveBatch from './migrations/0004-reserve-batch.ts';
import * as journal from './migrations/0005-journal.ts';
import * as cancellations from './migrations/0006-cancellations.ts';
import * as modes from './migrations/0007-modes.ts';
import * as consumers from './migrations/0008-consumers.ts';
import * as passes from './migrations/0009-passes.ts';
import * as mail from './migrations/0010-mail.ts';
import * as webhooks from './migrations/0011-webhooks.ts';
import * as notices from './migrations/0012-notices.ts';
import * as functions from './migrations/0013-functions.ts';
import * as pausedBy from './migrations/0014-paused-by.ts';
import * as mailLags from './migrations/0015-mail-lags.ts';
import { revokeFunctionsFromPublic } from '../roles/functions.ts';
import { adoptShardKeys, buildHoldIndex, buildShardKeys, hasTables } from './shard-keys.ts';

/** In order, forward only, and never edited once merged. */
const MIGRATIONS: Record<string, Migration> = {
  '0001-initial': initial,
  '0002-audit': audit,
  '0003-shards': shards,
  '0004-reserve-batch': reserveBatch,
  '0005-journal': journal,
  '0006-cancellations': cancellations,
  '0007-modes': modes,
  '0008-consumers': consumers,
  '0009-passes': passes,
  '0010-mail': mail,
  '0011-webhooks': webhooks,
  '0012-notices': notices,
  '0013-functions': functions,
  '0014-paused-by': pausedBy,
  '0015-mail-lags': mailLags,
};

/** Functions that a migration creates are nobody's but the owner's from the start. */
const revoking = ({ up }: Migration): Migration => ({
  up: async (db) => {
    await up(db);
    await revokeFunctionsFromPublic(db as Database);
  },
});
const getMigrations = () =>
  Promise.resolve(
    Object.fromEntries(Object.entries(MIGRATIONS).map(([name, migration]) => [name, revoking(migration)])),
  );

/** The oldest that PostgreSQL itself still maintains, and the oldest that the tests have been run on. */
const OLDEST_VERSION = 15;

/** SQL_ASCII keeps the bytes that it is given: UTF-8, as that is what every client of ours speaks. */
const ENCODINGS = new Set(['UTF8', 'SQL_ASCII']);

/**
 * Brings the schema up to date. Returns the names of the migrations that ran. Safe to run twice at once. Leaves a newer
 * schema as it is: an older release must be able to start on it again. Throws Failure where there can be none.
 */
export async function migrate(db: Database): Promise<string[]> {
  await assertSupported(db);
  const isNew = !(await hasTables(db));
  await buildShardKeys(db);
  const migrator = new Migrator({ db, provider: { getMigrations } });
  const { error, results } = await migrator.migrateToLatest();
  // To Kysely, a migration that this release does not know is an error. Here it is one only where another is missing.
  if (error && !(await isMigrated(db))) throw error;
  await buildShardKeys(db);
  await buildHoldIndex(db);
  // Else processes of the release before may be running, whether they have stored anything or not.
  if (isNew) await adoptShardKeys(db);
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

/** Throws Failure where the server is too old, or the database cannot store every name. */
async function assertSupported(db: Database): Promise<void> {
  const { rows } = await sql<{ version: string; number: number; encoding: string }>`
    select current_setting('server_version') as version, current_setting('server_version_num')::integer as number,
      current_setting('server_encoding') as encoding`.execute(db);
  const { version, number, encoding } = rows[0]!;
  if (number < OLDEST_VERSION * 10_000)
    throw new Failure(`PostgreSQL ${OLDEST_VERSION} or newer is needed, and this is ${version}`);
  if (!ENCODINGS.has(encoding))
    throw new Failure(
      `the database in DATABASE_URL is encoded in ${encoding}, which cannot hold every name; ` +
        `make one with "create database … template template0 encoding 'UTF8'"`,
    );
}
