import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { QUEUE_BACKENDS, titleOf, type FragileQueueServer } from '../harness/queue-backends.ts';
import { batches, enqueue, TestQueue, waitForCounts } from '../harness/test-queue.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { redisServerCommand } from '../servers/redis.ts';

const fragile = QUEUE_BACKENDS.filter(({ name }) => name === 'Postgres' || redisServerCommand());

// The queue's server goes away and comes back, a Redis without its data.
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

    test('while the server is away an enqueue fails; later everything works again', async () => {
      const producer = await queue.produce();
      const { runs } = queue.consume();
      await enqueue(producer);
      await waitUntil('the first job has run', () => runs.length === 1);

      await server.goAway();
      await waitUntil('the queue is known to be down', () => fails(() => enqueue(producer)));
      // Nothing is sent to a Redis that is away, so nothing waits for a timeout. A Postgres refuses the connection.
      await expect(enqueue(producer)).rejects.toThrow(backend.name === 'Postgres' ? '' : 'the queue is down');
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
      expect(await fails(() => enqueue(producer))).toBe(true);
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
      await waitUntil('the queue is known to be down', () => fails(() => enqueue(producer)));
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

const fails = (call: () => Promise<unknown>) =>
  call().then(
    () => false,
    () => true,
  );
