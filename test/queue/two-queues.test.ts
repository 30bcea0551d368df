import { Type } from '@sinclair/typebox';
import {
  defineJob,
  defineWorker,
  handled,
  openConsumer,
  openProducer,
  parseQueueUrl,
  type Consumer,
  type JobResult,
  type Producer,
} from '@floodgate/queue';
import { createLogger, loadConfig, type Clock } from '@floodgate/service';
import { startWorker } from '@floodgate/worker/start-worker';
import { workerConfig } from '@floodgate/worker/config';
import type { WorkerHealth } from '@floodgate/worker/health';
import { findFreePort } from '../harness/free-port.ts';
import { describe, expect, onTestFinished } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { QUEUE_BACKENDS, titleOf, useQueue } from '../harness/queue-backends.ts';
import { underTest } from '../harness/service-roles.ts';
import { TestQueue } from '../harness/test-queue.ts';
import { waitUntil } from '../harness/wait-until.ts';

const { test, given } = databaseTest({ own: 'starts processes that work on everything in the database' });

// What a second queue would be: two kinds of jobs that only these tests know.
const options = { payload: Type.Object({ n: Type.Integer() }), attempts: 3, backoffMs: 1, timeoutMs: 60_000 };
const leftJob = defineJob({ ...options, name: 'go-left', queue: 'left', concurrency: 1 });
const rightJob = defineJob({ ...options, name: 'go-right', queue: 'right', concurrency: 3 });
const JOBS = [leftJob, rightJob] as const;

const done = () => Promise.resolve('done' as const);

for (const backend of QUEUE_BACKENDS) {
  describe.skipIf(backend.missing)(titleOf(backend), () => {
    let queue: TestQueue;
    useQueue(backend, (input) => ({ queue } = input));

    const where = () => ({ target: parseQueueUrl(queue.url), namespace: queue.namespace, onError: () => {} });

    async function produce(): Promise<Producer> {
      const producer = openProducer(where());
      onTestFinished(() => producer.close());
      await producer.verify();
      return producer;
    }

    function consume(queues: string[], handle: (n: number) => Promise<JobResult>, clock?: Clock): Consumer {
      const handler = ({ n }: { n: number }) => handle(n);
      const jobs = JOBS.map((kind) => handled(kind, handler));
      const chosen = jobs.filter((kind) => queues.includes(kind.queue));
      const consumer = openConsumer({ ...where(), jobs: chosen, onJobFailed: () => {}, clock });
      onTestFinished(() => consumer.close(5_000));
      return consumer;
    }

    test('a consumer of one queue runs no jobs of another, not even where one lies in its own', async () => {
      const producer = await produce();
      const ran: number[] = [];
      await producer.enqueue(rightJob, { n: 1 });
      await producer.enqueue({ ...rightJob, queue: 'left' }, { n: 2 });
      await producer.enqueue(leftJob, { n: 3 });
      consume(['left'], (n) => done().finally(() => ran.push(n)));
      await waitUntil('the job has run', () => ran.length > 0);
      await waitUntil(
        'the foreign one was refused',
        async () => (await producer.counts('left')).failed === 1,
      );
      expect(await producer.counts('right')).toMatchObject({ waiting: 1, active: 0 });
      expect(ran).toEqual([3]);
    });

    test('a consumer of both refuses what lies in the wrong one', async () => {
      const producer = await produce();
      const ran: number[] = [];
      await producer.enqueue({ ...rightJob, queue: 'left' }, { n: 1 });
      await producer.enqueue(rightJob, { n: 2 });
      consume(['left', 'right'], (n) => done().finally(() => ran.push(n)));
      await waitUntil('it was refused', async () => (await producer.counts('left')).failed === 1);
      await waitUntil('the other has run', () => ran.length > 0);
      expect(ran).toEqual([2]);
    });

    test('each queue has its own concurrency', async () => {
      const producer = await produce();
      const { promise: go, resolve } = Promise.withResolvers<void>();
      consume(['left', 'right'], () => go.then(done));
      await Promise.all(
        [leftJob, rightJob].flatMap((kind) => [1, 2, 3, 4].map((n) => producer.enqueue(kind, { n }))),
      );
      const under = async () => [
        (await producer.counts('left')).active,
        (await producer.counts('right')).active,
      ];
      await waitUntil('all that may run do', async () => (await under()).join() === '1,3');
      expect(await producer.counts('left')).toMatchObject({ waiting: 3 });
      expect(await producer.counts('right')).toMatchObject({ waiting: 1 });
      resolve();
      await waitUntil('all have run', async () => (await under()).join() === '0,0');
    });

    test('one queue is idle while another is busy', async () => {
      const producer = await produce();
      const clock = new ManualClock();
      const consumer = consume(['left', 'right'], done, clock);
      await clock.advance(300);
      expect(consumer.idleMs()).toEqual({ left: 300, right: 300 });
      await producer.enqueue(rightJob, { n: 1 });
      await waitUntil('right was busy', () => consumer.idleMs()['right'] === 0);
      expect(consumer.idleMs()['left']).toBe(300);
    });
  });
}

describe('a worker with two queues', () => {
  const STALLED_AFTER_MS = 4_000;
  /** A worker whose jobs of the queue `right` end when `go` does. */
  async function startTwoQueues(go: Promise<unknown>) {
    const queue = await TestQueue.open(given.database.url);
    const producers: Producer[] = [];
    const capability = defineWorker({
      settings: {},
      open: ({ producer }) => {
        producers.push(producer);
        const right = handled({ ...rightJob, concurrency: 1 }, () => go.then(done));
        return { jobs: [handled(leftJob, done), right], tasks: [] };
      },
    });
    const port = String(await findFreePort());
    const input = {
      DATABASE_URL: given.database.url,
      QUEUE_URL: given.database.url,
      QUEUE_NAMESPACE: queue.namespace,
    };
    const own = { WORKER_HOST: '127.0.0.1', WORKER_PORT: port, STALLED_AFTER_MS: String(STALLED_AFTER_MS) };
    const clock = new ManualClock();
    const config = loadConfig(workerConfig([capability]), underTest('worker', { ...input, ...own }));
    const worker = await startWorker(config, createLogger('worker', 'silent'), [capability], clock);
    onTestFinished(async () => {
      await worker[Symbol.asyncDispose]();
      await queue.close();
    });
    const read = async () => {
      const response = await fetch(`http://127.0.0.1:${port}/health/live`);
      return (await response.json()) as WorkerHealth;
    };
    return { producer: producers[0]!, read, clock };
  }

  test('a stuck queue is seen while the other is busy', async () => {
    const { promise: go, resolve } = Promise.withResolvers<void>();
    const { producer, read, clock } = await startTwoQueues(go);
    await producer.enqueue(rightJob, { n: 1 });
    await producer.enqueue(rightJob, { n: 2 });
    await waitUntil('the right queue is stuck', async () => (await producer.counts('right')).active === 1);
    await clock.advance(STALLED_AFTER_MS);
    expect((await read()).status).toBe('ok');
    await clock.advance(1);
    await producer.enqueue(leftJob, { n: 3 });
    const { status, progress } = await waitUntil('the left queue has run its job', async () => {
      const seen = await read();
      return seen.progress.queues['left']!.idleMs === 0 && seen;
    });
    expect(status).toBe('stalled');
    const { left, right } = progress.queues;
    expect(left!.idleMs).toBe(0);
    expect(right).toMatchObject({ jobs: { waiting: 1, active: 1 } });
    expect(right!.idleMs).toBe(STALLED_AFTER_MS + 1);
    resolve();
    await waitUntil('it is well again', async () => (await read()).status === 'ok');
  });
});
