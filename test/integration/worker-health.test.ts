import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { commitBatch } from '../harness/committed-batch.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { freePort } from '../harness/free-port.ts';
import { startWorkerProcess, type Environment, type ServiceProcess } from '../harness/service-process.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { waitUntil } from '../harness/wait-until.ts';

let database: TestDatabase;
let fixture: Fixture;
const workers: ServiceProcess[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  fixture = await createFixture(database.db);
});
afterEach(() => Promise.all(workers.splice(0).map((worker) => worker.end('SIGKILL'))));
afterAll(() => database.drop());

async function startHealthyWorker(env: Environment = {}) {
  const port = String(await freePort());
  const common = { DATABASE_URL: database.url, QUEUE_URL: database.url, RELAY_INTERVAL_MS: '50' };
  workers.push(await startWorkerProcess({ ...common, WORKER_PORT: port, ...env }));
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    const { status } = (await response.json()) as { status: string };
    return `${response.status} ${status}`;
  };
  const becomes = (path: string, answer: string) =>
    waitUntil(`${path} is ${answer}`, async () => (await ask(path)) === answer);
  return { ask, becomes, port };
}

test('the health of a worker is good while there is nothing to do', async () => {
  const { ask, port } = await startHealthyWorker();
  expect(await ask('/health/live')).toBe('200 ok');
  expect(await ask('/health/ready?from=probe')).toBe('200 ok');
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(404);
});

test('it is stalled while batches wait and nothing moves', async () => {
  const batch = await commitBatch(database.db, fixture, { relayInSeconds: 3_600 });
  await sql`update batches set created_at = now() - interval '1 h' where id = ${batch.batchId}`.execute(
    database.db,
  );
  const { becomes } = await startHealthyWorker({ STALLED_AFTER_MS: '2000' });
  await becomes('/health/live', '503 stalled');
  await becomes('/health/ready', '503 stalled');
  await sql`update batches set relay_at = now() where id = ${batch.batchId}`.execute(database.db);
  await becomes('/health/live', '200 ok');
  expect(await batch.state()).toBe('confirmed');
});

test('it is blocked while Postgres is away: not ready, but no reason to restart it', async () => {
  const proxy = await TcpProxy.start(database.url);
  const { ask, becomes } = await startHealthyWorker({ DATABASE_URL: proxy.through(database.url) });
  proxy.setMode('down');
  await becomes('/health/ready', '503 blocked');
  expect(await ask('/health/live')).toBe('200 blocked');
  proxy.setMode('pass');
  await becomes('/health/ready', '200 ok');
  await workers.pop()!.end();
  await proxy.stop();
});
