import { Failure } from '@floodgate/service/failure';
import { sql } from 'kysely';
import type { Database } from '../connection/connect.ts';

/** The oldest that PostgreSQL itself still maintains, and the oldest that the tests have been run on. */
const OLDEST_VERSION = 15;

/** SQL_ASCII keeps the bytes that it is given: UTF-8, as that is what every client of ours speaks. */
const ENCODINGS = new Set(['UTF8', 'SQL_ASCII']);

/** Throws Failure where the server is too old, or the database cannot store every name. */
export async function assertSupported(db: Database): Promise<void> {
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
