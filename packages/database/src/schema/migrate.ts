import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { Failure } from '@floodgate/service/failure';
import { sql } from 'kysely';
import manifest from '../../package.json' with { type: 'json' };
import type { Database } from '../connection/connect.ts';
import { grantFunctions, regrant } from '../roles/grant-privileges.ts';
import { assertGranted } from '../roles/missing-privileges.ts';
import type { ServiceName } from '../roles/services.ts';
import { distributeFunctions, isCluster, isDistributed } from './distribute.ts';

/** The oldest version that PostgreSQL maintains, and the oldest that the tests have run on. */
const OLDEST_VERSION = 15;

/** SQL_ASCII stores bytes unchanged. They are UTF-8, the encoding of every client of this service. */
const ENCODINGS = new Set(['UTF8', 'SQL_ASCII']);

// Spells "shrd".
const MIGRATE_LOCK = 0x73687264;

/**
 * Brings the schema up to date. One transaction replaces changed functions and runs new table files, a second
 * one repeats the grants. Calls of running services wait only for the table files. Returns the names of the
 * files that it applied. Safe to run concurrently. Does not change a newer schema, so an older release can
 * start on it again. Throws Failure if this database cannot be migrated.
 */
export async function migrate(db: Database) {
  await assertSupported(db);
  const changed = await inMigration(db, async (tx, { functions = [], tables = [] }) => {
    await replaceFunctions(tx, functions);
    // Last, because a call that needs a changed table waits from here to the end of the transaction.
    for (const file of tables) await apply(tx, file);
    return [...functions, ...tables];
  });
  const repeated = await inMigration(db, async (tx, { grants = [] }) => {
    for (const file of grants) await apply(tx, file);
    if (changed.length + grants.length > 0) await regrant(tx);
    return grants;
  });
  return [...changed, ...repeated].map(({ name }) => name);
}

type FilesOfFolders = Partial<Record<SqlFile['folder'], SqlFile[]>>;

/** Runs `work` on the outdated files. No other migration runs meanwhile. */
function inMigration(db: Database, work: (tx: Database, outdated: FilesOfFolders) => Promise<SqlFile[]>) {
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${MIGRATE_LOCK})`.execute(tx);
    // The release orders versions of a function: an older release must not replace a newer function.
    await sql`
      create table if not exists schema_files (
        name text primary key,
        hash text not null,
        release text not null
      )`.execute(tx);
    // Citus changes tables and functions in one transaction only over one connection to each server.
    if (await isCluster(tx)) await sql`set local citus.multi_shard_modify_mode = 'sequential'`.execute(tx);
    return work(
      tx,
      Object.groupBy(await findOutdated(tx), ({ folder }) => folder),
    );
  });
}

// Functions that run as the owner take the search path of their creation. Without pg_temp at the end, a
// temporary table of the caller would come first.
const SEARCH_PATH = `
  select set_config('search_path', current_setting('search_path') || ', pg_temp', true)
  where current_setting('search_path') !~ '\\mpg_temp\\M'`;

/**
 * Running services keep their right to call a function that is replaced. They also get the right to call a
 * new one: from the end of this transaction on, a function that they call may call it.
 */
async function replaceFunctions(db: Database, files: SqlFile[]) {
  if (files.length === 0) return;
  const { rows: before } = await sql<{ name: string }>`
    select proname as name from pg_proc where pronamespace = current_schema()::regnamespace`.execute(db);
  const added = files.map(({ name }) => name).filter((name) => !before.some((one) => one.name === name));
  const { rows: grants } = await sql<{ statement: string }>`
    select format('grant execute on function %I to %s', proname, grantee::regrole) as statement
    from pg_proc, aclexplode(proacl)
    where proname = any(${files.map(({ name }) => name)}) and pronamespace = current_schema()::regnamespace
      and grantee not in (0, proowner)`.execute(db);
  // A function can use tables and columns of the table files, which run after it.
  await sql`set local check_function_bodies = off`.execute(db);
  await sql.raw(SEARCH_PATH).execute(db);
  for (const file of files) await apply(db, file);
  if (await isDistributed(db)) await distributeFunctions(db);
  for (const { statement } of grants) await sql.raw(statement).execute(db);
  if (added.length > 0) await grantFunctions(db, new Set(added));
}

/**
 * Throws, with instructions, if a service's role lacks a privilege, the schema is older than this code, or
 * the database is not supported. A newer schema is accepted (rolling deploys).
 */
export async function assertReady(db: Database, service: ServiceName) {
  await assertGranted(db, service);
  const isOurs = await assertSupported(db);
  if (isOurs && (await findOutdated(db)).length === 0) return;
  throw new Error('the database schema is missing or out of date; run "npm run floodgate -- migrate"');
}

/**
 * Returns the files that were never applied, and the functions and grants that have changed, unless a newer
 * release applied them. Throws Failure if a table file has changed.
 */
async function findOutdated(db: Database) {
  const { rows } = await sql<Record<'name' | 'hash' | 'release', string>>`
    select name, hash, release from schema_files`.execute(db);
  const applied = new Map(rows.map((row) => [row.name, row]));
  return (await readSqlFiles()).filter(({ name, folder, hash }) => {
    const before = applied.get(name);
    if (before?.hash === hash || (before && isNewer(before.release))) return false;
    if (before && folder === 'tables')
      throw new Failure(`${name}.sql has changed since this database ran it; use an empty database`);
    return true;
  });
}

const isNewer = (release: string) => release.localeCompare(manifest.version, 'en', { numeric: true }) > 0;

async function apply(db: Database, { name, folder, text, hash }: SqlFile) {
  const statements = {
    // Citus alters a distributed table only by a statement that is sent alone.
    tables: text.match(STATEMENT) ?? [],
    // Dropped and created, because a call could match both the old and the new function if their arguments
    // differ.
    functions: [`drop function if exists ${name}`, text, `revoke execute on function ${name} from public`],
    // migrate repeats all grants at the end, for every role.
    grants: [],
  };
  for (const statement of statements[folder]) await sql.raw(statement).execute(db);
  await sql`
    insert into schema_files (name, hash, release) values (${name}, ${hash}, ${manifest.version})
    on conflict (name) do update set hash = excluded.hash, release = excluded.release`.execute(db);
}

/** A statement: comments, strings, bodies in $$ and other characters, up to a semicolon. */
const STATEMENT = /(?:--[^\n]*\n|'[^']*'|\$\$.*?\$\$|-(?!-)|\$(?!\$)|[^;'$-])+;/gs;

/**
 * Returns whether the database has our tables. Throws Failure if the server is too old, the encoding cannot
 * store every name, or the database has tables of another program.
 */
async function assertSupported(db: Database) {
  const { rows } = await sql<
    Record<'version' | 'encoding', string> & Record<'isOurs' | 'hasTables', boolean>
  >`
    select current_setting('server_version') as version, current_setting('server_encoding') as encoding,
      to_regclass('schema_files') is not null as "isOurs",
      to_regclass('partners') is not null as "hasTables"`.execute(db);
  const { version, encoding, isOurs, hasTables } = rows[0]!;
  if (Number.parseInt(version, 10) < OLDEST_VERSION)
    throw new Failure(`PostgreSQL ${OLDEST_VERSION} or newer is required, and this is ${version}`);
  if (!ENCODINGS.has(encoding))
    throw new Failure(
      `the database in DATABASE_URL is encoded in ${encoding}, which cannot hold every name; ` +
        `create one with "create database … template template0 encoding 'UTF8'"`,
    );
  if (hasTables && !isOurs)
    throw new Failure('the database has tables of another program; use an empty database');
  return isOurs;
}

/** A file of sql/tables, sql/functions or sql/grants. A function has the name of its file. */
interface SqlFile {
  /** Without `.sql`. That of a grant begins with its folder. */
  name: string;
  folder: (typeof FOLDERS)[number];
  text: string;
  /** Of the text as it is applied. */
  hash: string;
}

const SQL = new URL('../../sql/', import.meta.url);

const FOLDERS = ['functions', 'tables', 'grants'] as const;

/** Returns the files in the order in which they are applied. */
async function readSqlFiles(): Promise<SqlFile[]> {
  return (await Promise.all(FOLDERS.map(readFolder))).flat();
}

async function readFolder(folder: SqlFile['folder']): Promise<SqlFile[]> {
  const names = (await readdir(new URL(folder, SQL))).toSorted();
  return Promise.all(
    names.map(async (file) => {
      const text = await readFile(new URL(`${folder}/${file}`, SQL), 'utf8');
      const applied = folder === 'functions' ? SEARCH_PATH + text : text;
      const hash = createHash('sha256').update(applied).digest('hex');
      const prefix = folder === 'grants' ? 'grants/' : '';
      return { name: prefix + file.replace('.sql', ''), folder, text, hash };
    }),
  );
}
