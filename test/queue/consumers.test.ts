import { describe, expect, test } from 'vitest';
import { startHangingConsumer } from '../harness/hanging-consumer.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { QUEUE_BACKENDS, titleOf, useQueue, type QueueServer } from '../harness/queue-backends.ts';
import { batches, enqueue, enqueueAll, TestQueue, waitForCounts } from '../harness/test-queue.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** A job's lock lasts this long, and lost jobs are looked for this often. In production both take 15 s. */
const LOCK_MS = 2_000;

// Second half of the conformance suite: consumers among each other, and their end.
for (const backend of QUEUE_BACKENDS) {
  describe.skipIf(backend.missing)(titleOf(backend), () => {
    let server: QueueServer;
    let queue: TestQueue;
    useQueue(backend, (given) => ({ server, queue } = given));

    test('two consumers share the work, and no job is run by both', async () => {
      const producer = await queue.produce();
      const jobs = Array.from({ length: 30 }, () => batches());
      const { promise: bothAtWork, resolve } = Promise.withResolvers<void>();
      const consumers = [1, 2].map(() => queue.consume({ concurrency: 1, handler: () => bothAtWork }));
      await enqueueAll(producer, jobs);
      await waitUntil('both have a job', () => consumers.every(({ runs }) => runs.length === 1));
      resolve();
      await waitForCounts(producer, {});
      const run = consumers.flatMap(({ runs }) => runs.flatMap(({ batchIds }) => batchIds));
      expect(run.toSorted()).toEqual(jobs.flatMap(({ batchIds }) => batchIds).toSorted());
    });

    test('a consumer takes no jobs of another namespace', async () => {
      const other = await TestQueue.open(server.url);
      const producer = await queue.produce();
      const { runs } = other.consume();
      await enqueue(producer);
      const otherProducer = await other.produce();
      await enqueue(otherProducer);
      await waitForCounts(otherProducer, {});
      await other.close();
      expect(runs).toHaveLength(1);
      await waitForCounts(producer, { waiting: 1 });
    });

    test('closing waits for the job under way and takes no further one', async () => {
      const producer = await queue.produce();
      const { promise: go, resolve } = Promise.withResolvers<void>();
      const { close, runs } = queue.consume({ concurrency: 1, handler: () => go });
      await enqueueAll(producer, [batches(), batches()]);
      await waitForCounts(producer, { active: 1, waiting: 1 });
      let isClosed = false;
      const closed = close(30_000).then(() => (isClosed = true));
      expect(await producer.counts('finalize')).toMatchObject({ active: 1, waiting: 1 });
      expect(isClosed).toBe(false);
      resolve();
      await closed;
      expect(runs).toHaveLength(1);
      await waitForCounts(producer, { waiting: 1 });
    });

    test('closing gives a job that does not end up at the deadline', async () => {
      const producer = await queue.produce();
      const { promise: end, resolve } = Promise.withResolvers<void>();
      const clock = new ManualClock();
      const { close } = queue.consume({ handler: () => end, clock });
      await enqueue(producer);
      await waitForCounts(producer, { active: 1 });
      let isClosed = false;
      const closed = close(300).then(() => (isClosed = true));
      await clock.advance(299);
      expect(isClosed).toBe(false);
      await clock.advance(1);
      await closed;
      await waitForCounts(producer, { active: 1 });
      resolve();
    });

    // The others wait for the end of real locks: consumers.evidence.test.ts.
    test.runIf(backend.name === 'Postgres')(
      'a job whose consumer was killed is run by another, with no attempt used up',
      async () => {
        const producer = await queue.produce({ attempts: 2, backoffMs: 1 });
        const job = batches();
        const victim = await startHangingConsumer(queue, LOCK_MS);
        await enqueue(producer, job);
        await waitForCounts(producer, { active: 1 });
        await victim.kill();
        const { runs, failures } = queue.consume({ lockMs: LOCK_MS });
        await waitUntil('the job has run', () => runs.length > 0);
        await waitForCounts(producer, {});
        // On a machine that stands still, its lock may expire once more.
        for (const run of runs) expect(run).toMatchObject({ ...job, isLastAttempt: false });
        expect(failures).toEqual([]);
      },
    );
  });
}
