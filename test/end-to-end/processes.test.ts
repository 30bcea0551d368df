import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, inject } from 'vitest';
import { reconcile } from '@floodgate/registrations';
import { databaseTest } from '../harness/database-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { holdTicket } from '../harness/hold-ticket.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { runCli, startApiProcess, startProcess, startWorkerProcess } from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = databaseTest({ own: 'starts processes that work on everything in the database' });

let env: { DATABASE_URL: string; QUEUE_URL: string; QUEUE_NAMESPACE: string };
let directory: string;

test.beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'floodgate-e2e-'));
  const queueUrl = inject('redisUrl') ?? given.database.url;
  const isRedis = queueUrl !== given.database.url;
  env = {
    DATABASE_URL: given.database.url,
    QUEUE_URL: queueUrl,
    QUEUE_NAMESPACE: isRedis ? `e2e_${process.pid}` : 'floodgate',
  };
});

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

const stateOf = (answer: { body: { responseData: unknown } }) =>
  (answer.body.responseData as { state: string }).state;

test('API and worker as processes of their own: registered, confirmed, and the books balance', async () => {
  const [api, worker] = await Promise.all([startApiProcess(env), startWorkerProcess(env)]);
  const fixture = await createFixture(given.database.db);
  const ticketId = await fixture.addTicket({ capacity: 300 });
  const client = new PartnerClient(api.baseUrl, fixture);
  const answers = await Promise.all(Array.from({ length: 500 }, () => client.register(attendee(ticketId))));
  const references = answers.flatMap(({ body }) =>
    body.responseCode === '00' ? [String(body.responseData)] : [],
  );
  expect(references).toHaveLength(300);
  await waitUntil('all are confirmed', async () => {
    const states = await Promise.all(
      references.map(async (reference) => stateOf(await client.registration(reference))),
    );
    return states.every((state) => state === 'confirmed');
  });
  expect((await runCli(env, 'reconcile')).code).toBe(0);
  expect(await api.end()).toBe(0);
  expect(await worker.end()).toBe(0);
});

test('SIGTERM: the API answers what is under way, then ends with 0', async () => {
  const api = await startApiProcess(env);
  const fixture = await createFixture(given.database.db);
  const ticketId = await fixture.addTicket();
  const client = new PartnerClient(api.baseUrl, fixture);
  await client.tickets();
  const held = await holdTicket(given.database.db, ticketId);
  const answers = [client.register(attendee(ticketId)), client.register(attendee(ticketId))];
  await held.waiters(1);
  api.child.kill('SIGTERM');
  await waitUntil('it has begun to stop', () => api.output().includes('"msg":"stopping"'));
  await held.release();
  expect((await Promise.all(answers)).map(({ body }) => body.responseCode)).toEqual(['00', '00']);
  expect(await api.exited).toBe(0);
});

test('SIGTERM: an API that cannot finish ends at its deadline, with 1', async () => {
  const api = await startApiProcess({ ...env, SHUTDOWN_TIMEOUT_MS: '300', ANSWER_WITHIN_MS: '20000' });
  const fixture = await createFixture(given.database.db);
  const ticketId = await fixture.addTicket();
  const held = await holdTicket(given.database.db, ticketId);
  const answer = new PartnerClient(api.baseUrl, fixture)
    .register(attendee(ticketId))
    .catch(() => 'no answer');
  await held.waiters(1);
  expect(await api.end()).toBe(1);
  expect(await answer).toBe('no answer');
  await held.release();
});

test('SIGKILL of the API after "00": the seats stay, and are confirmed although it never told the queue', async () => {
  const api = await startApiProcess(env);
  const fixture = await createFixture(given.database.db);
  const ticketId = await fixture.addTicket();
  const client = new PartnerClient(api.baseUrl, fixture);
  const answers = await Promise.all(Array.from({ length: 40 }, () => client.register(attendee(ticketId))));
  await api.end('SIGKILL');
  expect(answers.every(({ body }) => body.responseCode === '00')).toBe(true);

  const [successor, worker] = await Promise.all([startApiProcess(env), startWorkerProcess(env)]);
  const heir = new PartnerClient(successor.baseUrl, fixture);
  for (const { body } of answers) {
    await waitUntil(
      'it is confirmed',
      async () => stateOf(await heir.registration(String(body.responseData))) === 'confirmed',
    );
  }
  expect(await reconcile(given.database.db)).toEqual([]);
  await Promise.all([successor.end(), worker.end()]);
});

test('an API whose queue is down starts, answers "00", and reports the queue', async () => {
  const api = await startApiProcess({ ...env, QUEUE_URL: 'redis://127.0.0.1:1' });
  const fixture = await createFixture(given.database.db);
  const client = new PartnerClient(api.baseUrl, fixture);
  const ticketId = await fixture.addTicket();
  expect((await client.register(attendee(ticketId))).body.responseCode).toBe('00');
  const ready = await fetch(`${api.baseUrl}/health/ready`);
  expect(ready.status).toBe(200);
  expect(await ready.json()).toEqual({ status: 'ok', postgres: 'up', queue: 'down' });
  expect(api.output()).toContain('"problem":"connection refused"');
  expect((await fetch(`${api.baseUrl}/health/live`)).status).toBe(200);
  expect(await api.end()).toBe(0);
});

test.each([
  ['api', { PORT: 'http' }, 'PORT'],
  ['api', { QUEUE_URL: 'amqp://broker' }, 'QUEUE_URL'],
  ['worker', { FINALIZE_CONCURRENCY: '0' }, 'FINALIZE_CONCURRENCY'],
] as const)('a wrong variable is named, and the %s does not start: %o', async (app, wrong, variable) => {
  const process = startProcess(app, { ...env, ...wrong });
  expect(await process.exited).toBe(2);
  expect(process.output().trim().split('\n')).toHaveLength(1);
  expect(process.output()).toContain(variable);
});

test('a schema that was never migrated is refused with the command that mends it', async () => {
  const url = new URL(env.DATABASE_URL);
  url.pathname = '/postgres';
  const process = startProcess('api', { ...env, DATABASE_URL: url.href });
  expect(await process.exited).toBe(1);
  expect(process.output()).toContain('npm run floodgate -- migrate');
});
