import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { QUEUE_BACKENDS, titleOf, type FragileQueueServer } from '../harness/queue-backends.ts';
import { batches, enqueue, TestQueue, waitForCounts } from '../harness/test-queue.ts';
import { measuredWait } from '../harness/measured-wait.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { redisServerCommand } from '../servers/redis.ts';

/** "At once" for a call that could otherwise hang: well below any timeout of a partner's request. */
const AT_ONCE_MS = 2_500;

const fragile = QUEUE_BACKENDS.filter(({ name }) => name === 'Postgres' || redisServerCommand());

// How soon a call fails while the queue's server is away. outages.test.ts tests that it fails, and why.
for (const backend of fragile) {
  describe(titleOf({ ...backend, missing: null }), () => {
    let server: FragileQueueServer;
    let queue: TestQueue;

    beforeAll(async () => {
      server = await backend.startFragile();
    });
    afterAll(() => server.stop());
    beforeEach(async () => {
      queue = await TestQueue.open(server.url);
    });
    afterEach(() => queue.close());

    test('while the server is away an enqueue fails at once; later everything works again', async () => {
      const producer = await queue.produce();
      const { runs } = queue.consume();
      await enqueue(producer);
      await waitUntil('the first job has run', () => runs.length === 1);

      await server.goAway();
      await waitUntil('the queue is known to be down', () => failsAtOnce(() => enqueue(producer)));
      await expect(enqueue(producer)).rejects.toThrow();
      await expect(producer.verify()).rejects.toThrow();

      await server.comeBack();
      await waitUntil('a job runs again', async () => {
        await enqueue(producer).catch(() => {});
        return runs.length > 1;
      });
      await producer.verify();
    });

    test('a queue that is opened while the server is away works once it is back', async () => {
      await server.goAway();
      const producer = queue.openProducer();
      const { runs } = queue.consume();
      await expect(producer.verify()).rejects.toThrow();
      await failsAtOnce(() => enqueue(producer));
      await server.comeBack();
      await waitUntil('a job runs', async () => {
        await enqueue(producer).catch(() => {});
        return runs.length > 0;
      });
    });

    test('nothing that failed to be enqueued arrives later', async () => {
      const producer = await queue.produce();
      await waitForCounts(producer, {});
      await server.goAway();
      await waitUntil('the queue is known to be down', () => failsAtOnce(() => enqueue(producer)));
      const lost = Array.from({ length: 50 }, () => batches());
      const attempts = await Promise.allSettled(lost.map((job) => enqueue(producer, job)));
      expect(attempts.every(({ status }) => status === 'rejected')).toBe(true);

      await server.comeBack();
      const kept = batches();
      await waitUntil('an enqueue succeeds', () =>
        enqueue(producer, kept).then(
          () => true,
          () => false,
        ),
      );
      const { runs } = queue.consume();
      await waitUntil('the job has run', () => runs.length > 0);
      expect(runs.flatMap(({ batchIds }) => batchIds)).toEqual(kept.batchIds);
    });
  });
}

async function failsAtOnce(call: () => Promise<unknown>): Promise<boolean> {
  const startedAt = performance.now();
  const reference = measuredWait(AT_ONCE_MS, () => Promise.resolve());
  const failed = await call().then(
    () => false,
    () => true,
  );
  const took = performance.now() - startedAt;
  expect(took).toBeLessThan(await reference);
  return failed;
}
