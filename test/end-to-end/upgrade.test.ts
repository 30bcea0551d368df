import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { appendFile, cp, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { SERVICES, type Database } from '@floodgate/database';
import { sql } from 'kysely';
import { expect, onTestFinished } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { holdTable } from '../harness/hold-table.ts';
import { isOutboxEmpty } from '../harness/journal.ts';
import { startMailServer } from '../harness/mail-server.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import {
  runCli,
  startApiProcess,
  startDeliveryProcess,
  startWorkerProcess,
} from '../harness/service-process.ts';
import { temporaryDirectory } from '../harness/temporary-directory.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { followChain } from '../harness/webhook-receiver.ts';
import { startReceiverInTest } from '../harness/webhooks-in-test.ts';
import { addWebhook } from '../harness/webhooks.ts';

const { test, given } = databaseTest({
  own: 'changes the schema, the roles or the settings of its database',
});

// A rolling upgrade: the schema first. The processes of today run beside the schema of the next release.

const PACKAGE = fileURLToPath(new URL('../../packages/database', import.meta.url));

/** A migration such as a next release can have: a table, a column in each large table, and an index. */
const NEXT_TABLES = `
create table next_things (id integer primary key);
alter table registrations add column next_text text;
alter table tickets add column next_number integer not null default 7;
alter table deliveries add column next_text text not null default 'none';
create index next_index on tickets (title);
`;

const RUN = `
import { connect } from './src/connection/connect.ts';
import { migrate } from './src/schema/migrate.ts';
const db = connect({ connectionString: process.env.DATABASE_URL, applicationName: 'next', maxConnections: 1 });
console.log(JSON.stringify(await migrate(db)));
await db.destroy();
`;

/** Returns the migration of the next release: today's files, a new one, and every function and grant changed. */
async function nextRelease() {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory[Symbol.asyncDispose]());
  for (const part of ['src', 'sql'])
    await cp(path.join(PACKAGE, part), directory.file(part), { recursive: true });
  await symlink(path.join(PACKAGE, 'node_modules'), directory.file('node_modules'));
  await writeFile(directory.file('package.json'), JSON.stringify({ version: '99.0.0', type: 'module' }));
  await writeFile(directory.file('sql/tables/9999-next.sql'), NEXT_TABLES);
  for (const file of globSync('sql/{functions,grants}/*.sql', { cwd: directory.path }))
    await appendFile(directory.file(file), '\n-- Of the next release.\n');
  await writeFile(directory.file('run.mjs'), RUN);
  return () => {
    const env = { DATABASE_URL: given.database.url };
    const run = promisify(execFile)(process.execPath, [directory.file('run.mjs')], { env });
    return { process: run.child, applied: run.then(({ stdout }) => JSON.parse(stdout) as string[]) };
  };
}

interface Answers {
  references: string[];
  failures: string[];
}

/** Registers and cancels all the time while `work` runs. */
async function underLoad(partner: PartnerClient, ticketId: number, work: () => Promise<unknown>) {
  const answers: Answers = { references: [], failures: [] };
  const over = new AbortController();
  const callAll = async (_: unknown, caller: number) => {
    for (let call = 0; !over.signal.aborted; call += 1) {
      const person = { ...attendee(ticketId), emailAddress: `${caller}-${call}@mail.floodgate-tests.org` };
      const bulk = caller === 0;
      const { body } = bulk ? await partner.registerBulk([person, person]) : await partner.register(person);
      if (body.responseCode !== '00') answers.failures.push(`register ${body.responseCode}`);
      else answers.references.push(...referencesOf(body.responseData));
    }
  };
  const callers = Promise.all(Array.from({ length: 8 }, callAll));
  await work().finally(() => over.abort());
  await callers;
  return answers;
}

function referencesOf(data: unknown): string[] {
  if (typeof data === 'string') return [data];
  return (data as { responseData: string }[]).map(({ responseData }) => responseData);
}

/** Returns whether a statement waits for a lock of the table. */
async function isAwaited(table: string) {
  const { rows } =
    await sql`select from pg_locks where relation = ${table}::regclass and not granted`.execute(
      given.database.db,
    );
  return rows.length > 0;
}

const seats = async (db: Database, ticketId: number) =>
  (await db.selectFrom('tickets').select('taken').where('id', '=', ticketId).executeTakeFirstOrThrow()).taken;

test("today's processes beside the schema of the next release: no call fails, nothing is lost, all is published", async () => {
  const [mailServer, receiver] = [await startMailServer(), await startReceiverInTest()];
  const env = { DATABASE_URL: given.database.url, QUEUE_URL: given.database.url };
  const [api, worker, delivery] = await Promise.all([
    startApiProcess(env),
    startWorkerProcess(env),
    startDeliveryProcess({
      DATABASE_URL: given.database.url,
      SMTP_URL: mailServer.url,
      WEBHOOK_ALLOW_PRIVATE: 'true',
    }),
  ]);
  onTestFinished(
    async () => void (await Promise.all([api, worker, delivery].map((one) => one.end('SIGKILL')))),
  );
  const gala = await createFixture(given.database.db);
  const ticketId = await gala.addTicket({ capacity: 1_000_000 });
  const partner = new PartnerClient(api.baseUrl, gala);
  expect((await runCli(env, 'mail', 'enable', String(gala.eventId))).code).toBe(0);
  await addWebhook(given.database.db, gala, { url: receiver.url, entriesPerMessage: 50 });
  const migrateToNext = await nextRelease();

  const { references, failures } = await underLoad(partner, ticketId, async () => {
    await waitUntil('some are registered', async () => (await seats(given.database.db, ticketId)) > 200);
    // The grants are repeated when the tables have changed, and no call waits for them.
    const grants = await holdTable(given.database.db, 'service_roles');
    const killed = migrateToNext();
    const end = expect(killed.applied).rejects.toMatchObject({ signal: 'SIGKILL' });
    await waitUntil('the migration waits for the grants', () => isAwaited('service_roles'));
    const before = await seats(given.database.db, ticketId);
    await waitUntil(
      'more are registered',
      async () => (await seats(given.database.db, ticketId)) > before + 200,
    );
    killed.process.kill('SIGKILL');
    await end;
    await grants.release();
    // Functions and tables are there. Only the grants are left.
    const left = SERVICES.map((service) => `grants/${service}`).toSorted();
    expect(await migrateToNext().applied).toEqual(left);
  });
  expect(failures).toEqual([]);
  expect(await seats(given.database.db, ticketId)).toBe(references.length);

  const toldOf = () => new Set(followChain(receiver.told()).passes);
  await waitUntil('all are published', () => isOutboxEmpty(given.database.db, gala.shardId));
  await waitUntil('the partner was told of all', () => toldOf().size === references.length, 60_000);
  expect(toldOf()).toEqual(new Set(references));
  await waitUntil('all have an e-mail', () => mailServer.mails.length === references.length, 120_000);
  expect((await runCli(env, 'reconcile')).code).toBe(0);

  // The processes of today start on the newer schema as well.
  for (const service of [api, worker, delivery]) expect(await service.end()).toBe(0);
  const [again, workerAgain] = await Promise.all([startApiProcess(env), startWorkerProcess(env)]);
  const { body } = await new PartnerClient(again.baseUrl, gala).register(attendee(ticketId));
  expect(body).toMatchObject({ responseCode: '00' });
  await waitUntil('it is published', () => isOutboxEmpty(given.database.db, gala.shardId));
  for (const service of [again, workerAgain]) expect(await service.end()).toBe(0);
});
