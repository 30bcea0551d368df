import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, expect } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { runCli, startApiProcess, type ServiceProcess } from '../harness/service-process.ts';

const { test, given } = databaseTest({
  own: 'changes the schema, the roles or the settings of its database',
});

// A later release migrates while this one runs, and this one may have to come back afterwards.

let api: ServiceProcess & { baseUrl: string };

test.beforeAll(async () => {
  api = await startApiProcess({
    DATABASE_URL: given.database.url,
    QUEUE_URL: given.database.url,
    READ_CONNECTIONS: '1',
  });
});

afterAll(async () => {
  await api.end();
});

/** Reads what is kept in memory for a second from Postgres again: each time under an event of its own. */
async function answers() {
  const { eventRef, secretKey, addTicket } = await createFixture(given.database.db);
  const ticketId = await addTicket();
  const client = new PartnerClient(api.baseUrl, { eventRef, secretKey });
  const tickets = await client.tickets();
  const registered = await client.register(attendee(ticketId), { 'idempotency-key': 'one' });
  const state = await client.registration(String(registered.body.responseData));
  return [tickets, registered, state].map(({ body }) => body.responseCode);
}

test('an API that runs goes on answering when every table gets a column more', async () => {
  expect(await answers()).toEqual(['00', '00', '00']);
  const { rows: tables } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'r'`.execute(given.database.db);
  for (const { name } of tables) {
    await sql`alter table ${sql.id(name)} add column added_later text not null default ''`.execute(
      given.database.db,
    );
  }
  expect(await answers()).toEqual(['00', '00', '00']);
});

/** The command of this release. */
const migrate = () => runCli({ DATABASE_URL: given.database.url }, 'migrate');

test('a function of another version is replaced, and its callers go on', async () => {
  const { rows } = await sql<{ signature: string }>`
    select oid::regprocedure::text as signature from pg_proc where proname = 'reserve_batch'`.execute(
    given.database.db,
  );
  await sql`drop function reserve_batch`.execute(given.database.db);
  await sql`create function reserve_batch() returns json language sql return null::json`.execute(
    given.database.db,
  );
  await sql`update schema_files set hash = 'another' where name = 'reserve_batch'`.execute(given.database.db);
  expect(await migrate()).toEqual({ code: 0, output: 'migrated: reserve_batch\n' });
  const replaced = sql`
    select oid::regprocedure::text as signature from pg_proc where proname = 'reserve_batch'`;
  expect((await replaced.execute(given.database.db)).rows).toEqual(rows);
  expect(await answers()).toEqual(['00', '00', '00']);
});

test('migrate of an older release leaves a newer schema as it is', async () => {
  await sql`insert into schema_files (name, hash, release) values ('9999-later', '', '99.0.0')`.execute(
    given.database.db,
  );
  await sql`update schema_files set hash = 'newer', release = '99.0.0' where name = 'reserve_batch'`.execute(
    given.database.db,
  );
  expect(await migrate()).toEqual({ code: 0, output: 'nothing to do\n' });
  const again = await startApiProcess({ DATABASE_URL: given.database.url, QUEUE_URL: given.database.url });
  expect(await again.end()).toBe(0);
});

test('a table file that has changed since it ran is refused', async () => {
  await sql`update schema_files set hash = 'another' where name = '0001-initial'`.execute(given.database.db);
  expect(await migrate()).toEqual({
    code: 1,
    output: expect.stringContaining('0001-initial.sql has changed since this database ran it') as string,
  });
});

test('a database with tables of somebody else is refused', async () => {
  await sql`drop table schema_files`.execute(given.database.db);
  expect(await migrate()).toEqual({
    code: 1,
    output: expect.stringContaining('the database has tables of another program') as string,
  });
});

test('every workspace has the same release, which orders the versions of a function', () => {
  const root = path.resolve(import.meta.dirname, '../..');
  const manifests = globSync('{,apps/*/,packages/*/}package.json', { cwd: root });
  const versions = manifests.map((file) => JSON.parse(readFileSync(path.join(root, file), 'utf8')) as object);
  expect(new Set(versions.map((manifest) => 'version' in manifest && manifest.version)).size).toBe(1);
});
