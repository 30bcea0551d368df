import { randomBytes, randomUUID } from 'node:crypto';
import { issueKey, noteKeyUse } from '@floodgate/partners';
import Fastify from 'fastify';
import { expect, onTestFinished } from 'vitest';
import { healthRoutes } from '@floodgate/http';
import { sql } from 'kysely';
import { apiTest } from '../harness/api-test.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { holdTable } from '../harness/hold-table.ts';
import { finalizePending } from '../harness/journal.ts';
import { attendee, PartnerClient, type Answer } from '../harness/partner-client.ts';
import { RawConnection } from '../harness/raw-http.ts';
import { recording } from '../harness/recorded-statements.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = apiTest({
  sharesEvent: true,
  own: 'changes the schema, the roles or the settings of its database',
});

// What anybody may have the API ask of Postgres, as often as they like: it must not stand in the way of the others.

const FLOOD = 2_000;

let mine: Fixture;
let theirs: Fixture;

test.beforeAll(async () => {
  [mine, theirs] = [await createFixture(given.database.db), await createFixture(given.database.db)];
});

const clientOf = (caller: Pick<Fixture, 'secretKey' | 'eventRef'>) =>
  new PartnerClient(given.api.baseUrl, caller);

/** Locks a table, and counts the statements that wait for it. */
async function watchTable(table: string) {
  const { release, waiters } = await holdTable(given.database.db, table);
  return {
    release,
    waiters,
    /** How many waited at most until `work` was done, from the moment that somebody does. */
    mostWaitersDuring: async (work: () => Promise<unknown>) => {
      let most = await waitUntil('somebody waits', async () => (await waiters()) || undefined);
      const over = new AbortController();
      const done = work().finally(() => over.abort());
      do most = Math.max(most, await waiters());
      while (!over.signal.aborted);
      await done;
      return most;
    },
  };
}

/** Sends many requests on one connection, and answers what was answered, in order. */
async function flood(
  paths: string[],
  headersOf: (index: number) => Record<string, string>,
  method = 'GET',
): Promise<Answer[]> {
  const connection = await RawConnection.open(given.api.baseUrl);
  onTestFinished(() => connection.close());
  const requests = paths.map((path, index) => {
    const lines = Object.entries(headersOf(index)).map(([name, value]) => `${name}: ${value}\r\n`);
    return `${method} ${path} HTTP/1.1\r\nhost: api\r\n${lines.join('')}\r\n`;
  });
  connection.send(requests.join(''));
  const answers: Answer[] = [];
  for (const _ of requests) answers.push(await connection.answer());
  return answers;
}

const codes = (answers: Answer[]) => [...new Set(answers.map(({ body }) => body.responseCode))].toSorted();
const isReady = async () => (await fetch(`${given.api.baseUrl}/health/ready`)).status;
const madeUpKey = () => `fg_${randomBytes(8).toString('hex')}_${randomBytes(32).toString('base64url')}`;

test('thousands of made-up keys occupy one connection to Postgres, and no more', async () => {
  const held = await watchTable('secret_keys');
  const answers = flood(Array<string>(FLOOD).fill('/api/v1/events/tickets'), () => ({
    'x-secret-key': madeUpKey(),
    'x-event-ref': mine.eventRef,
  }));
  expect(await held.mostWaitersDuring(async () => expect(await isReady()).toBe(200))).toBe(1);
  await held.release();
  // 90 for those whose read was given up meanwhile.
  expect(['20', '20,90']).toContain(codes(await answers).join());
});

/** The tables in which the caller of a request is looked up. */
const OF_ACCESS = ['secret_keys', 'secret_key_uses', 'partners', 'events', 'event_grants'];

test('while a partner floods every route that reads, and Postgres answers none, keys are still looked up', async () => {
  const document = (await (await fetch(`${given.api.baseUrl}/api/v1/openapi.json`)).json()) as {
    paths: Record<string, object>;
  };
  const uuid = '0197a3c2-5d1e-7c44-9b1f-0a2b3c4d5e6f';
  const values = { passReference: 'GALA-1-1-1000000000', holdReference: uuid, entry: uuid };
  const paths = Object.entries(document.paths)
    .filter(([, operations]) => 'get' in operations)
    .map(([path]) =>
      path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (values as Record<string, string>)[name] ?? uuid),
    )
    // The only one with a required parameter.
    .map((path) => (path.endsWith('/holds') ? `${path}?partnerReference=order-1` : path));
  expect(paths.length).toBeGreaterThan(10);
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = current_schema() and tablename <> all(${OF_ACCESS})`.execute(
    given.database.db,
  );
  const owner = await given.database.db.startTransaction().execute();
  onTestFinished(() =>
    owner
      .rollback()
      .execute()
      .catch(() => {}),
  );
  for (const { name } of rows) await sql`lock table ${sql.id(name)} in access exclusive mode`.execute(owner);
  const caller = { 'x-secret-key': theirs.secretKey, 'x-event-ref': theirs.eventRef };
  const floods = paths.map((path) => flood(Array<string>(100).fill(path), () => caller));
  for (let count = 0; count < 20; count += 1) {
    const { body } = await clientOf({ ...mine, secretKey: madeUpKey() }).tickets();
    expect(body.responseCode).toBe('20');
  }
  await owner.rollback().execute();
  const answered = codes((await Promise.all(floods)).flat());
  expect(answered.filter((code) => !['00', '34', '35', '70', '90'].includes(code))).toEqual([]);
});

test('a partner that asks for thousands of registrations keeps nobody from being let in', async () => {
  await mine.addTicket();
  const held = await watchTable('registrations');
  const paths = Array.from(
    { length: FLOOD },
    (_, index) => `/api/v1/events/registrations/GALA-1-${index + 1}-1234567890`,
  );
  const answers = flood(paths, () => ({ 'x-secret-key': theirs.secretKey, 'x-event-ref': theirs.eventRef }));
  const letIn = async () => expect((await clientOf(mine).tickets()).body.responseCode).toBe('00');
  expect(await held.mostWaitersDuring(letIn)).toBe(1);
  await held.release();
  expect(['34', '34,90']).toContain(codes(await answers).join());
});

test.for([
  ['GET', ''],
  ['POST', '/leave'],
])(
  'a partner that asks for thousands of entries of waiting lists (%s) keeps nobody from being let in',
  async ([method, end]) => {
    await mine.addTicket();
    const held = await watchTable('waiting_entries');
    const paths = Array.from({ length: FLOOD }, () => `/api/v1/events/waiting-list/${randomUUID()}${end}`);
    const headers = { 'x-secret-key': theirs.secretKey, 'x-event-ref': theirs.eventRef };
    const answers = flood(paths, () => headers, method);
    const letIn = async () => expect((await clientOf(mine).tickets()).body.responseCode).toBe('00');
    expect(await held.mostWaitersDuring(letIn)).toBe(1);
    await held.release();
    expect(['34', '34,90']).toContain(codes(await answers).join());
  },
);

test('of a partner that calls the webhook routes thousands of times few requests wait, and no other partner is delayed', async () => {
  const held = await watchTable('webhook_endpoints');
  const answers = flood(Array<string>(FLOOD).fill('/api/v1/webhooks'), () => ({
    'x-secret-key': theirs.secretKey,
    'x-event-ref': theirs.eventRef,
  }));
  await waitUntil('one waits for the table', async () => (await held.waiters()) > 0);
  const { secretKey, eventRef } = mine;
  const headers = { 'x-secret-key': secretKey, 'x-event-ref': eventRef };
  const other = fetch(`${given.api.baseUrl}/api/v1/webhooks`, { headers });
  await held.release();
  expect((await other).status).toBe(200);
  // No more of one partner wait than the queue has places for.
  const refused = (await answers).filter(({ body }) => body.responseCode === '90');
  expect(refused.length).toBeGreaterThan(0);
});

test('of a partner that asks for thousands of pictures of passes one is drawn at a time, and no other partner is delayed', async () => {
  const registerBy = async (one: Fixture) =>
    String((await clientOf(one).register(attendee(await one.addTicket()))).body.responseData);
  const theirReference = await registerBy(theirs);
  await finalizePending(given.database.db, theirs.shardId);
  const passReference = await registerBy(mine);
  const held = await watchTable('registrations');
  const paths = Array<string>(FLOOD).fill(`/api/v1/events/registrations/${theirReference}/pass`);
  const answers = flood(paths, () => ({
    'x-secret-key': theirs.secretKey,
    'x-event-ref': theirs.eventRef,
    accept: 'image/png',
  }));
  await waitUntil('one waits for the table', async () => (await held.waiters()) > 0);
  const other = clientOf(mine).pass(passReference, { accept: 'image/png' });
  await held.release();
  expect((await other).body.responseCode).toBe('35');
  const refused = (await answers).filter(({ body }) => body.responseCode === '90');
  expect(refused.length).toBeGreaterThan(0);
});

test('however many reset a test event, one of them is at work, on a connection of its own', async () => {
  const trial = await createFixture(given.database.db, 'allow', 'test');
  const ticketId = await mine.addTicket();
  const held = await watchTable('idempotency_keys');
  const answers = flood(
    Array<string>(100).fill('/api/v1/events/reset'),
    () => ({ 'x-secret-key': trial.secretKey, 'x-event-ref': trial.eventRef }),
    'POST',
  );
  const register = async () =>
    expect((await clientOf(mine).register(attendee(ticketId))).body.responseCode).toBe('00');
  expect(await held.mostWaitersDuring(register)).toBe(1);
  await held.release();
  expect(['00', '00,90']).toContain(codes(await answers).join());
});

test('however many ask whether the API is ready, Postgres is asked once at a time', async () => {
  const statements: string[] = [];
  const app = Fastify();
  onTestFinished(() => app.close());
  healthRoutes(app, recording(given.database.db, statements), { problem: () => null });
  const ask = () => app.inject('/health/ready');
  const answers = await Promise.all(Array.from({ length: 100 }, ask));
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
  expect(statements).toHaveLength(1);
  await ask();
  expect(statements).toHaveLength(2);
});

test('what is looked for together is answered to each by itself', async () => {
  const [myTicket, theirTicket] = [await mine.addTicket(), await theirs.addTicket()];
  const pass = async (caller: Fixture, ticketId: number) =>
    String((await clientOf(caller).register(attendee(ticketId))).body.responseData);
  const passes = { mine: await pass(mine, myTicket), theirs: await pass(theirs, theirTicket) };
  const keyOf = async ({ partnerId }: Fixture) => (await issueKey(given.database.db, partnerId)).secretKey;
  const wrong = (secretKey: string) => `${secretKey.slice(0, -43)}${'A'.repeat(43)}`;

  // A key of its own for each: nothing is remembered, everything is read.
  const keys = await Promise.all(
    Array.from({ length: 20 }, async () => ({ mine: await keyOf(mine), theirs: await keyOf(theirs) })),
  );
  const held = await watchTable('secret_keys');
  const expected: string[] = [];
  const asked: Promise<Answer>[] = [];
  const expectAnswer = (answer: Promise<Answer>, code: string, state = '') => {
    asked.push(answer);
    expected.push(`${code} ${state}`);
  };
  for (const key of keys) {
    const my = { ...mine, secretKey: key.mine };
    const their = { ...theirs, secretKey: key.theirs };
    expectAnswer(clientOf(my).registration(passes.mine), '00', passes.mine);
    expectAnswer(clientOf(their).registration(passes.mine), '34');
    expectAnswer(clientOf({ ...my, secretKey: madeUpKey() }).registration(passes.mine), '20');
    expectAnswer(clientOf(their).registration(passes.theirs), '00', passes.theirs);
    expectAnswer(clientOf({ ...my, secretKey: wrong(key.theirs) }).registration(passes.mine), '20');
    expectAnswer(clientOf({ ...my, eventRef: theirs.eventRef }).registration(passes.theirs), '21');
  }
  await waitUntil('they are looked for', async () => (await held.waiters()) > 0);
  await held.release();
  const answers = (await Promise.all(asked)).map(({ body }) => {
    const data = body.responseData as { passReference: string } | null;
    return `${body.responseCode} ${data?.passReference ?? ''}`;
  });
  expect(answers).toEqual(expected);
});

test('the use of a key that somebody is just noting is not waited for', async () => {
  const [busy, free] = [
    await issueKey(given.database.db, mine.partnerId),
    await issueKey(given.database.db, mine.partnerId),
  ];
  const rival = await given.database.db.startTransaction().execute();
  onTestFinished(() => rival.rollback().execute());
  await noteKeyUse(rival, [busy.keyId]);
  await noteKeyUse(given.database.db, [busy.keyId, free.keyId]);
  const uses = given.database.db.selectFrom('secret_key_uses').select('key_id');
  expect(await uses.where('key_id', 'in', [busy.keyId, free.keyId]).execute()).toEqual([
    { key_id: free.keyId },
  ]);
});
