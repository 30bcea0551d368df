import { randomUUID } from 'node:crypto';
import type { JobsOptions, Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished } from 'vitest';
import { commitBatch } from '../harness/committed-batch.ts';
import { QUEUE_BACKENDS, titleOf, useQueue } from '../harness/queue-backends.ts';
import type { ServiceProcess } from '../harness/service-process.ts';
import type { TestQueue } from '../harness/test-queue.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { workersTest } from '../harness/workers-test.ts';

const { test, given } = workersTest();

// Whoever may write to the queue may write anything there. A worker finalizes what is real all the same.

const ids = (count: number) => Array.from({ length: count }, () => randomUUID());
const HYPHENS = '-'.repeat(36);

const NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  'finalize-batches ',
  'x'.repeat(10_000),
];
const PAYLOADS: unknown[] = [
  null,
  [],
  'text',
  7,
  {},
  { shardId: 0, batchIds: null },
  { shardId: 0, batchIds: {} },
  { shardId: 0, batchIds: { length: 1, 0: randomUUID() } },
  { shardId: 0, batchIds: [null] },
  { shardId: 0, batchIds: [[randomUUID()]] },
  { shardId: 0, batchIds: [HYPHENS] },
  { shardId: 0, batchIds: [`${randomUUID().slice(0, -1)}-`] },
  { shardId: 0, batchIds: [randomUUID().toUpperCase()] },
  { shardId: 0, batchIds: [`${randomUUID()}\n`] },
  { shardId: 0, batchIds: ["'); drop table batches; --aaaaaaaaaaa"] },
  { shardId: 0, batchIds: ['x'.repeat(1_000_000)] },
  { shardId: 0, batchIds: ids(1_001) },
  JSON.parse('{"__proto__":{"batchIds":["x"]},"constructor":{"prototype":{"x":1}}}'),
];
/** With a payload that is right, but of batches that do not exist. */
const OPTIONS: JobsOptions[] = [
  { attempts: 1e9, backoff: { type: 'nobody knows', delay: 1 } },
  { attempts: -1 },
  { backoff: { type: 'exponential', delay: -5 }, attempts: 3 },
  { priority: 2_097_151 },
  { lifo: true },
  { removeOnFail: true, removeOnComplete: { count: 1 } },
];

async function forge(queue: Queue): Promise<number> {
  for (const name of NAMES) await queue.add(name, { shardId: 0, batchIds: ids(1) });
  for (const payload of PAYLOADS) await queue.add('finalize-batches', payload);
  for (const options of OPTIONS)
    await queue.add('finalize-batches', { shardId: 0, batchIds: ids(1) }, options);
  return NAMES.length + PAYLOADS.length;
}

for (const backend of QUEUE_BACKENDS.filter(({ name }) => name !== 'Redis Cluster')) {
  describe.skipIf(backend.missing)(titleOf(backend), () => {
    let queue: TestQueue;
    let worker: ServiceProcess;
    useQueue(backend, (input) => ({ queue } = input));

    const startOnQueue = async () => {
      worker = await given.startWorker({ QUEUE_URL: queue.url, QUEUE_NAMESPACE: queue.namespace });
    };

    const expectUnharmed = async () => {
      const batch = await commitBatch(given.database.db, given.gala);
      await batch.waitForState('confirmed');
      expect(worker.child.exitCode).toBeNull();
      expect(worker.output()).not.toMatch(/"level":[56]0/);
    };

    test('forged jobs fail at once, each by itself, and what is real is finalized', async () => {
      const raw = await queue.raw();
      const forged = await forge(raw);
      await startOnQueue();
      await waitUntil('all of them are dealt with', async () => {
        const { failed = 0, ...others } = await raw.getJobCounts(
          'waiting',
          'prioritized',
          'active',
          'delayed',
          'failed',
        );
        return failed === forged && Object.values(others).every((count) => count === 0);
      });
      const failed = await raw.getFailed(0, -1);
      expect(new Set(failed.map(({ failedReason }) => failedReason.split(':')[0]))).toEqual(
        new Set(['unknown job or payload']),
      );
      expect(failed.filter(({ attemptsMade }) => attemptsMade > 1)).toEqual([]);
      await expectUnharmed();
    });

    // A hash in Redis takes anything.
    if (backend.name === 'Redis') {
      test('what is no job at all holds nobody up', async () => {
        const raw = await queue.raw();
        const client = new Redis(queue.url);
        onTestFinished(() => client.disconnect());
        const spoiled: [field: string, value: string][] = [
          ['data', '{'],
          ['opts', '{'],
          ['opts', '{"attempts":"many","backoff":[]}'],
          ['atm', 'NaN'],
          ['timestamp', 'soon'],
          ['stacktrace', '{'],
        ];
        for (const [field, value] of spoiled) {
          const { id } = await raw.add('finalize-batches', { shardId: 0, batchIds: ids(1) });
          await client.hset(raw.toKey(id!), field, value);
        }
        await client.lpush(raw.toKey('wait'), 'no-such-job', ':', '');
        await startOnQueue();
        await expectUnharmed();
        await waitUntil('nothing waits', async () => (await raw.getJobCounts('waiting'))['waiting'] === 0);
        await expectUnharmed();
      });
    }

    test('a real batch is confirmed with a forged one as its neighbour', async () => {
      const raw = await queue.raw();
      const batch = await commitBatch(given.database.db, given.gala, { relayInSeconds: 3_600 });
      const batchIds = [randomUUID(), batch.batchId, randomUUID()];
      await raw.add('finalize-batches', { shardId: given.gala.shardId, batchIds });
      await startOnQueue();
      await batch.waitForState('confirmed');
      await expectUnharmed();
    });
  });
}
