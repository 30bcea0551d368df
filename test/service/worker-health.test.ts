import { sql } from 'kysely';
import { expect, onTestFinished } from 'vitest';
import type { WorkerHealth } from '@floodgate/worker/health';
import { commitBatch } from '../harness/committed-batch.ts';
import { findFreePort } from '../harness/free-port.ts';
import type { Environment } from '../harness/service-process.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { refuseToConfirm } from '../harness/poison.ts';
import { TestQueue } from '../harness/test-queue.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { workersTest } from '../harness/workers-test.ts';

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

test('it is well while a batch that failed waits for its next attempt', async () => {
  const batch = await commitBatch(given.database.db, given.gala);
  await refuseToConfirm(given.database.db, batch.batchId);
  onTestFinished(async () => void (await sql`drop trigger refuse on batches`.execute(given.database.db)));
  // Of its own: a worker of another test may have left a job that it worked on when it was killed.
  const queue = await TestQueue.open(given.database.url);
  const { worker, read } = await startHealthyWorker({
    QUEUE_NAMESPACE: queue.namespace,
    STALLED_AFTER_MS: '2000',
    FINALIZE_BACKOFF_MS: '60000',
  });
  await waitUntil('the first attempt has failed', () => worker.output().includes('"msg":"a job failed"'));
  await sql`update batches set relay_at = now() + interval '1 h' where id = ${batch.batchId}`.execute(
    given.database.db,
  );
  const health = await waitUntil('nothing has moved for longer than is allowed', async () => {
    const { status, progress } = await read();
    const { idleMs, jobs, backlog } = progress.queues['finalize']!;
    return idleMs > 2_000 && backlog!.oldestPendingMs! > 2_000 && jobs && { status, progress };
  });
  expect(health).toMatchObject({
    status: 'ok',
    progress: { queues: { finalize: { jobs: { delayed: 1 } } } },
  });
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
