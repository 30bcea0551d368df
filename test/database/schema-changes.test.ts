import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { createFixture } from '../harness/fixture.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { runCli, startApiProcess, type ServiceProcess } from '../harness/service-process.ts';

// A later release migrates while this one runs, and this one may have to come back afterwards.

let database: TestDatabase;
let api: ServiceProcess & { baseUrl: string };

beforeAll(async () => {
  database = await createTestDatabase();
  api = await startApiProcess({ DATABASE_URL: database.url, QUEUE_URL: database.url, READ_CONNECTIONS: '1' });
});

afterAll(async () => {
  await api.end();
  await database.drop();
});

/** Reads what is kept in memory for a second from Postgres again: each time under an event of its own. */
async function answers() {
  const { eventRef, secretKey, addTicket } = await createFixture(database.db);
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
    where relnamespace = current_schema()::regnamespace and relkind = 'r'`.execute(database.db);
  for (const { name } of tables) {
    await sql`alter table ${sql.id(name)} add column added_later text not null default ''`.execute(
      database.db,
    );
  }
  expect(await answers()).toEqual(['00', '00', '00']);
});

const migrate = () => runCli({ DATABASE_URL: database.url }, 'migrate');

test('reserve_batch of the release before is replaced, and its callers go on', async () => {
  const signature = async () => {
    const { rows } = await sql<{ types: string[]; defaults: number }>`
      select array(select format_type(type, null) from unnest(proargtypes) as type) as types, pronargdefaults as defaults
      from pg_proc where proname = 'reserve_batch'`.execute(database.db);
    return rows;
  };
  const { types } = (await signature())[0]!;
  const before = types.slice(0, -1);
  await sql.raw(`drop function reserve_batch(${types.join()})`).execute(database.db);
  await sql
    .raw(`create function reserve_batch(${before.join()}) returns json language sql return null::json`)
    .execute(database.db);
  await sql`delete from kysely_migration where name >= '0013'`.execute(database.db);
  expect(await migrate()).toMatchObject({ code: 0 });
  expect(await signature()).toEqual([{ types, defaults: 1 }]);
  expect(await answers()).toEqual(['00', '00', '00']);
  const arguments_ = before.map(() => 'null').join();
  await sql.raw(`explain select reserve_batch(${arguments_})`).execute(database.db);
});

test('migrate of an older release leaves a newer schema as it is', async () => {
  await sql`insert into kysely_migration (name, timestamp) values ('9999-later', now()::text)`.execute(
    database.db,
  );
  expect(await migrate()).toEqual({ code: 0, output: 'nothing to do\n' });
  const again = await startApiProcess({ DATABASE_URL: database.url, QUEUE_URL: database.url });
  expect(await again.end()).toBe(0);
});

test('migrate of a release that is of another line fails', async () => {
  await sql`delete from kysely_migration where name <> '9999-later'`.execute(database.db);
  expect(await migrate()).toEqual({
    code: 1,
    output: expect.stringContaining('previously executed migration 9999-later is missing') as string,
  });
});
