import { randomBytes } from 'node:crypto';
import { migrate, type Database } from '@floodgate/database';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { connectInTest } from '../harness/connect-in-test.ts';
import { withDatabase } from '../harness/database-url.ts';
import { runCli, startProcess } from '../harness/service-process.ts';

const NAME = `floodgate_latin1_${randomBytes(6).toString('hex')}`;

let server: Database;
let url: string;

beforeAll(async () => {
  server = connectInTest(inject('postgresUrl'));
  await sql`
    create database ${sql.id(NAME)} template template0 encoding 'LATIN1' locale_provider 'libc' lc_collate 'C' lc_ctype 'C'`.execute(
    server,
  );
  url = withDatabase(inject('postgresUrl'), NAME);
});

afterAll(async () => {
  await sql`drop database ${sql.id(NAME)} with (force)`.execute(server);
  await server.destroy();
});

const REFUSAL = 'the database in DATABASE_URL is encoded in LATIN1, which cannot hold every name';

test('migrate refuses a database that cannot hold every name', async () => {
  expect(await runCli({ DATABASE_URL: url }, 'migrate')).toEqual({
    code: 1,
    output: expect.stringMatching(
      `^floodgate: ${REFUSAL}; create one with "create database .*UTF8'"\\n$`,
    ) as string,
  });
});

test.for(['api', 'worker'] as const)('the %s does not start on it', async (service) => {
  const process = startProcess(service, { DATABASE_URL: url, QUEUE_URL: url, PORT: '0', WORKER_PORT: '0' });
  expect(await process.exited).toBe(1);
  expect(process.output()).toContain(`floodgate-${service}: ${REFUSAL}`);
});

test('migrate refuses a server that is too old', async () => {
  // No other server is at hand, so a function stands in for the one that tells the version.
  const old = connectInTest(withSearchPath(withDatabase(url, NAME)));
  await sql`create schema old`.execute(old);
  await sql`
    create function old.current_setting(name text) returns text language sql
    return case name when 'server_version' then '10.23' when 'server_version_num' then '100023' end`.execute(
    old,
  );
  await expect(migrate(old)).rejects.toThrow('PostgreSQL 15 or newer is required, and this is 10.23');
  await old.destroy();
});

/** What is in the schema "old" comes before what is Postgres's own. */
function withSearchPath(databaseUrl: string): string {
  const changed = new URL(databaseUrl);
  changed.searchParams.set('options', '-c search_path=old,pg_catalog');
  return changed.href;
}
