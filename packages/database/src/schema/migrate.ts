import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { Failure } from '@floodgate/service/failure';
import { sql } from 'kysely';
import manifest from '../../package.json' with { type: 'json' };
import type { Database } from '../connection/connect.ts';
import { regrant } from '../roles/grant-privileges.ts';
import { assertGranted } from '../roles/missing-privileges.ts';
import type { ServiceName } from '../roles/services.ts';
import { distributeFunctions, isDistributed } from './distribute.ts';

/** The oldest that PostgreSQL itself still maintains, and the oldest that the tests have been run on. */
const OLDEST_VERSION = 15;

/** SQL_ASCII keeps the bytes that it is given: UTF-8, as that is what every client of ours speaks. */
const ENCODINGS = new Set(['UTF8', 'SQL_ASCII']);

// Spells "shrd".
const MIGRATE_LOCK = 0x73687264;

/**
 * Brings the schema up to date in one transaction: runs new table files, replaces changed functions, repeats the grants. Returns the
 * names of the files that it applied. Safe to run twice at once. Leaves a newer schema as it is, so that an older release can start
 * on it again. Throws Failure if this database cannot be migrated.
 */
export async function migrate(db: Database): Promise<string[]> {
  await assertSupported(db);
  return db.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(${MIGRATE_LOCK})`.execute(transaction);
    // The release orders versions of a function: an older release must not replace a newer function.
    await sql`
      create table if not exists schema_files (
        name text primary key,
        hash text not null,
        release text not null
      )`.execute(transaction);
    const outdated = await findOutdated(transaction);
    for (const file of outdated) await apply(transaction, file);
    if (outdated.length > 0) {
      if (await isDistributed(transaction)) await distributeFunctions(transaction);
      await regrant(transaction);
    }
    return outdated.map(({ name }) => name);
  });
}

/**
 * Throws, saying what to do, where a service's role lacks a privilege, the schema is older than this code, or the database is none
 * that can hold it. A newer schema is fine (rolling deploys).
 */
export async function assertReady(db: Database, service: ServiceName): Promise<void> {
  await assertGranted(db, service);
  const { isOurs } = await assertSupported(db);
  if (isOurs && (await findOutdated(db)).length === 0) return;
  throw new Error('the database schema is missing or out of date; run "npm run floodgate -- migrate"');
}

/**
 * Returns the files that were never applied, and the functions that have changed, unless a newer release applied them. Throws Failure
 * if a table file has changed.
 */
async function findOutdated(db: Database): Promise<SqlFile[]> {
  const { rows } = await sql<{ name: string; hash: string; release: string }>`
    select name, hash, release from schema_files`.execute(db);
  const applied = new Map(rows.map((row) => [row.name, row]));
  return (await readSqlFiles()).filter(({ name, isFunction, hash }) => {
    const before = applied.get(name);
    if (before?.hash === hash || (before && isNewer(before.release))) return false;
    if (before && !isFunction)
      throw new Failure(`${name}.sql has changed since this database ran it; use an empty database`);
    return true;
  });
}

const isNewer = (release: string) => release.localeCompare(manifest.version, 'en', { numeric: true }) > 0;

async function apply(db: Database, { name, isFunction, text, hash }: SqlFile): Promise<void> {
  // Dropped and created: two functions of one name but with different arguments could both match a call.
  if (isFunction) await sql`drop function if exists ${sql.ref(name)}`.execute(db);
  await sql.raw(text).execute(db);
  if (isFunction) await sql`revoke execute on function ${sql.ref(name)} from public`.execute(db);
  await sql`
    insert into schema_files (name, hash, release) values (${name}, ${hash}, ${manifest.version})
    on conflict (name) do update set hash = excluded.hash, release = excluded.release`.execute(db);
}

/**
 * Returns whether the database has our tables. Throws Failure where the server is too old, the database cannot store every name, or
 * somebody else's tables would be in the way.
 */
async function assertSupported(db: Database) {
  const { rows } = await sql<{
    version: string;
    number: number;
    encoding: string;
    isOurs: boolean;
    isForeign: boolean;
  }>`
    select current_setting('server_version') as version, current_setting('server_version_num')::integer as number,
      current_setting('server_encoding') as encoding, to_regclass('schema_files') is not null as "isOurs",
      to_regclass('schema_files') is null and to_regclass('partners') is not null as "isForeign"`.execute(db);
  const { version, number, encoding, isForeign } = rows[0]!;
  if (number < OLDEST_VERSION * 10_000)
    throw new Failure(`PostgreSQL ${OLDEST_VERSION} or newer is needed, and this is ${version}`);
  if (!ENCODINGS.has(encoding))
    throw new Failure(
      `the database in DATABASE_URL is encoded in ${encoding}, which cannot hold every name; ` +
        `make one with "create database … template template0 encoding 'UTF8'"`,
    );
  if (isForeign)
    throw new Failure('the database has tables that no release has created; use an empty database');
  return rows[0]!;
}

/** A file of sql/tables or sql/functions. A function's file has its name. */
type SqlFile = Awaited<ReturnType<typeof readSqlFiles>>[number];

const SQL = new URL('../../sql/', import.meta.url);

/** Returns the files in the order in which they are applied. */
async function readSqlFiles() {
  return [...(await readFolder('tables')), ...(await readFolder('functions'))];
}

async function readFolder(folder: 'tables' | 'functions') {
  const names = (await readdir(new URL(folder, SQL))).toSorted();
  return Promise.all(
    names.map(async (file) => {
      const text = await readFile(new URL(`${folder}/${file}`, SQL), 'utf8');
      const hash = createHash('sha256').update(text).digest('hex');
      return { name: file.replace('.sql', ''), isFunction: folder === 'functions', text, hash };
    }),
  );
}
