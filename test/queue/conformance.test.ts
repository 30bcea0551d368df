import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { ManualClock } from '../harness/manual-clock.ts';
import { QUEUE_BACKENDS, titleOf, useQueue } from '../harness/queue-backends.ts';
import {
  batches,
  enqueue,
  enqueueAll,
  type Run,
  type TestQueue,
  waitForCounts,
} from '../harness/test-queue.ts';
import { waitUntil } from '../harness/wait-until.ts';

// One suite for every backend: whatever QUEUE_URL names, the apps see the same queue.
for (const backend of QUEUE_BACKENDS) {
  describe.skipIf(backend.missing)(titleOf(backend), () => {
    let queue: TestQueue;
    useQueue(backend, (given) => ({ queue } = given));

    const batchIds = (of: { batchIds: string[] }[]) => of.flatMap((one) => one.batchIds).toSorted();

    test('a job reaches its handler with its payload and leaves nothing behind', async () => {
      const producer = await queue.produce();
      const job = batches();
      await enqueue(producer, job);
      const { runs, failures } = queue.consume();
      await waitUntil('the job has run', () => runs.length > 0);
      await waitForCounts(producer, {});
      expect(runs).toMatchObject([{ ...job, isLastAttempt: false }]);
      expect(failures).toEqual([]);
      const raw = await queue.raw();
      expect(await raw.getJobCounts()).toMatchObject({ completed: 0, failed: 0 });
    });

    test('many jobs at once are each run once, at most as many at a time as allowed', async () => {
      const producer = await queue.produce();
      const jobs = Array.from({ length: 150 }, () => batches());
      let [atOnce, most] = [0, 0];
      const handler = async () => {
        most = Math.max(most, (atOnce += 1));
        await new Promise((resolve) => setImmediate(resolve));
        atOnce -= 1;
      };
      const { runs } = queue.consume({ concurrency: 3, handler });
      await enqueueAll(producer, jobs);
      await waitUntil('all have run', () => runs.length >= jobs.length);
      await waitForCounts(producer, {});
      expect(batchIds(runs)).toEqual(batchIds(jobs));
      expect(most).toBeLessThanOrEqual(3);
    });

    test('rings for the same batch are jobs of their own, so one that was taken for lost swallows none', async () => {
      const producer = await queue.produce();
      const [lost, other] = [batches(), batches()];
      const next = batches(...lost.batchIds, ...other.batchIds);
      await enqueueAll(producer, [lost, next]);
      await waitForCounts(producer, { waiting: 2 });
    });

    test('a failing job is tried again, later and later, until it is kept as failed', async () => {
      const producer = await queue.produce({ attempts: 3, backoffMs: 200 });
      const { runs, failures } = queue.consume({ handler: () => Promise.reject(new Error('no luck')) });
      await enqueue(producer);
      await waitForCounts(producer, { failed: 1 });
      await waitUntil('all failures were told', () => failures.length === 3);
      expect(runs.map(({ isLastAttempt }) => isLastAttempt)).toEqual([false, false, true]);
      expect(failures).toEqual(
        [1, 2, 3].map((attempt) => ({
          queue: 'finalize',
          name: 'finalize-batches',
          id: expect.any(String) as string,
          attempt,
          message: 'no luck',
        })),
      );
      // 200 ms and 400 ms, each up to half of it less by chance.
      expect(runs[1]!.at - runs[0]!.at).toBeGreaterThan(95);
      expect(runs[2]!.at - runs[1]!.at).toBeGreaterThan(195);
    });

    test('a job that fails once and then succeeds is not kept', async () => {
      const producer = await queue.produce();
      const handler = () => (runs.length === 1 ? Promise.reject(new Error('no luck')) : Promise.resolve());
      const { runs } = queue.consume({ handler });
      await enqueue(producer);
      await waitUntil('it has run twice', () => runs.length === 2);
      await waitForCounts(producer, {});
    });

    test('a snoozed job runs again after its delay, and that costs it no attempt', async () => {
      const producer = await queue.produce({ attempts: 2, backoffMs: 60_000 });
      const handler = () => Promise.resolve(runs.length <= 3 ? { snoozeMs: 300 } : undefined);
      const { runs, failures } = queue.consume({ handler });
      await enqueue(producer);
      await waitForCounts(producer, { delayed: 1 });
      await waitUntil('it has run for a last time', () => runs.length === 4);
      await waitForCounts(producer, {});
      for (const [index, run] of runs.slice(1).entries())
        expect(run.at - runs[index]!.at).toBeGreaterThan(295);
      expect(runs.map(({ isLastAttempt }) => isLastAttempt)).toEqual([false, false, false, false]);
      expect(failures).toEqual([]);
    });

    test('an attempt that takes too long has failed, and its handler is told to stop', async () => {
      const producer = await queue.produce({ attempts: 2, backoffMs: 1 });
      const handler = ({ signal }: Run) =>
        runs.length === 1 ? once(signal, 'abort').then(() => undefined) : Promise.resolve();
      const clock = new ManualClock();
      const { runs, failures } = queue.consume({ handler, timeoutMs: 200, clock });
      await enqueue(producer);
      await waitUntil('it runs', () => runs.length === 1);
      await clock.advance(199);
      expect(runs[0]!.signal.aborted).toBe(false);
      await clock.advance(1);
      await waitUntil('it has run twice', () => runs.length === 2);
      await waitForCounts(producer, {});
      expect(runs.map(({ signal }) => signal.aborted)).toEqual([true, false]);
      expect(failures).toMatchObject([{ attempt: 1, message: 'the attempt took longer than 200 ms' }]);
    });

    test('a consumer is idle since its last job, whether that went well or not', async () => {
      const producer = await queue.produce({ attempts: 1, backoffMs: 1 });
      const handler = () => (runs.length === 1 ? Promise.reject(new Error('no luck')) : Promise.resolve());
      const clock = new ManualClock();
      const { runs, idleMs } = queue.consume({ handler, clock });
      for (const failed of [1, 1]) {
        await clock.advance(300);
        expect(idleMs()).toBe(300);
        await enqueue(producer);
        await waitForCounts(producer, { failed });
        await waitUntil('it was not idle', () => idleMs() === 0);
      }
    });

    test('counts tell what waits, runs and is put off', async () => {
      const producer = await queue.produce({ attempts: 2, backoffMs: 60_000 });
      const { promise: go, resolve } = Promise.withResolvers<void>();
      const handler = () => go.then(() => Promise.reject(new Error('no luck')));
      await enqueueAll(
        producer,
        Array.from({ length: 5 }, () => batches()),
      );
      await waitForCounts(producer, { waiting: 5 });
      queue.consume({ concurrency: 2, handler });
      await waitForCounts(producer, { waiting: 3, active: 2 });
      resolve();
      await waitForCounts(producer, { delayed: 5 });
    });

    test('a payload that is not of its job is refused by the producer', async () => {
      const producer = await queue.produce();
      await expect(enqueue(producer, batches('x'))).rejects.toThrow('not a payload of finalize-batches');
      await waitForCounts(producer, {});
    });

    test.for([
      ['finalize-batches', { shardId: 0, batchIds: [7] }],
      ['finalize-batches', null],
      ['nobody-knows-this', batches()],
      ['toString', {}],
    ] as const)('a job %s with %o never reaches a handler and is not tried again', async ([name, data]) => {
      const producer = await queue.produce();
      const { runs, failures } = queue.consume();
      await (await queue.raw()).add(name, data, { attempts: 5 });
      await waitForCounts(producer, { failed: 1 });
      await waitUntil('the failure was told', () => failures.length > 0);
      expect(failures).toMatchObject([{ name, attempt: 1 }]);
      expect(runs).toEqual([]);
    });
  });
}
