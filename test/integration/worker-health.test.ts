import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { commitBatch } from '../harness/committed-batch.ts';
import type { TestDatabase } from '../harness/database.ts';
import type { Fixture } from '../harness/fixture.ts';
import { freePort } from '../harness/free-port.ts';
import type { Environment } from '../harness/service-process.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { useWorkers } from '../harness/workers.ts';

let database: TestDatabase;
let fixture: Fixture;
const workers = useWorkers((given) => ({ database, fixture } = given));

async function startHealthyWorker(env: Environment = {}) {
  const port = String(await freePort());
  const worker = await workers.start({ WORKER_PORT: port, ...env });
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    const { status } = (await response.json()) as { status: string };
    return `${response.status} ${status}`;
  };
  const becomes = (path: string, answer: string) =>
    waitUntil(`${path} is ${answer}`, async () => (await ask(path)) === answer);
  return { worker, ask, becomes, port };
}

test('the health of a worker is good while there is nothing to do', async () => {
  const { ask, port } = await startHealthyWorker();
  expect(await ask('/health/live')).toBe('200 ok');
  expect(await ask('/health/ready?from=probe')).toBe('200 ok');
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(404);
});

test('it is stalled while batches wait and nothing moves', async () => {
  const batch = await commitBatch(database.db, fixture, { relayInSeconds: 3_600 });
  await sql`update batches set pending_since = now() - interval '1 h' where id = ${batch.batchId}`.execute(
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
  const { worker, ask, becomes } = await startHealthyWorker({ DATABASE_URL: proxy.through(database.url) });
  proxy.setMode('down');
  await becomes('/health/ready', '503 blocked');
  expect(await ask('/health/live')).toBe('200 blocked');
  proxy.setMode('pass');
  await becomes('/health/ready', '200 ok');
  await worker.end();
  await proxy.stop();
});
