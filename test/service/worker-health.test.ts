import { sql } from 'kysely';
import { expect, onTestFinished } from 'vitest';
import type { WorkerHealth } from '@floodgate/worker/health';
import { commitBatch } from '../harness/committed-batch.ts';
import { findFreePort } from '../harness/free-port.ts';
import type { Environment } from '../harness/service-process.ts';
import { QUEUE_BACKENDS, titleOf } from '../harness/queue-backends.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { TestQueue } from '../harness/test-queue.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { workersTest } from '../harness/workers-test.ts';
import { redisServerCommand } from '../servers/redis.ts';

const { test, given } = workersTest();

async function startHealthyWorker(env: Environment = {}) {
  const port = String(await findFreePort());
  const worker = await given.startWorker({ WORKER_PORT: port, ...env });
  const read = async (path = '/health/live') => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { httpStatus: response.status, ...((await response.json()) as WorkerHealth) };
  };
  const ask = async (path: string) => {
    const { httpStatus, status } = await read(path);
    return `${httpStatus} ${status}`;
  };
  const becomes = (path: string, answer: string) =>
    waitUntil(`${path} is ${answer}`, async () => (await ask(path)) === answer);
  return { worker, read, ask, becomes, port };
}

test('the health of a worker is good while there is nothing to do', async () => {
  const { ask, port } = await startHealthyWorker();
  expect(await ask('/health/live')).toBe('200 ok');
  expect(await ask('/health/ready?from=probe')).toBe('200 ok');
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(404);
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(metrics).toContain('floodgate_worker_pending_batches{queue="finalize"} 0\n');
  expect(metrics).toMatch(/^floodgate_worker_pool_connections\{pool="main",state="idle"\} [1-9]/m);
});

test('it is stalled while batches wait and nothing moves', async () => {
  const batch = await commitBatch(given.database.db, given.gala, { relayInSeconds: 3_600 });
  await sql`update batches set pending_since = now() - interval '1 h' where id = ${batch.batchId}`.execute(
    given.database.db,
  );
  const { becomes } = await startHealthyWorker({ STALLED_AFTER_MS: '2000' });
  await becomes('/health/live', '503 stalled');
  await becomes('/health/ready', '503 stalled');
  await sql`update batches set relay_at = now() where id = ${batch.batchId}`.execute(given.database.db);
  await becomes('/health/live', '200 ok');
  expect(await batch.state()).toBe('confirmed');
});

test('it is blocked while Postgres is away: not ready, but no reason to restart it', async () => {
  const proxy = await TcpProxy.start(given.database.url);
  const { worker, ask, becomes } = await startHealthyWorker({
    DATABASE_URL: proxy.through(given.database.url),
  });
  proxy.setMode('down');
  await becomes('/health/ready', '503 blocked');
  expect(await ask('/health/live')).toBe('200 blocked');
  proxy.setMode('pass');
  await becomes('/health/ready', '200 ok');
  await worker.end();
  await proxy.stop();
});

const fragile = QUEUE_BACKENDS.filter(({ name }) => name === 'Postgres' || redisServerCommand());

test.for(fragile.map((backend) => [titleOf({ ...backend, missing: null }), backend] as const))(
  'its metrics say whether the queue is down: %s',
  async ([, backend]) => {
    const server = await backend.startFragile();
    onTestFinished(() => server.stop());
    const queue = await TestQueue.open(server.url);
    const { worker, port } = await startHealthyWorker({
      QUEUE_URL: server.url,
      QUEUE_NAMESPACE: queue.namespace,
    });
    const becomes = (value: number) =>
      waitUntil(`the gauge is ${value}`, async () => {
        const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
        return text.includes(`\nfloodgate_worker_queue_down ${value}\n`);
      });
    await becomes(0);
    await server.goAway();
    await becomes(1);
    await server.comeBack();
    await becomes(0);
    await worker.end();
    await queue.close();
  },
);
