import { describe, expect, test } from 'vitest';
import { QUEUE_BACKENDS, titleOf } from '../harness/queue-backends.ts';
import { enqueue, TestQueue } from '../harness/test-queue.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { redisServerCommand } from '../servers/redis.ts';

// Connections that are open end nowhere, and nobody says so; new ones work. Each waits for the consumer's
// 15 s of silence.
describe.concurrent('connections that were forgotten on the way are given up', () => {
  for (const backend of QUEUE_BACKENDS) {
    const missing =
      backend.name === 'Postgres' || redisServerCommand() ? null : 'no redis-server on the PATH';
    test.skipIf(missing)(titleOf({ ...backend, missing }), async () => {
      const { url, wire, stop } = await backend.startOnWire();
      const queue = await TestQueue.open(url);
      const producer = await queue.produce();
      // Most is under way while a job is.
      const { runs } = queue.consume({
        handler: () => Promise.resolve(runs.length === 1 ? wire.forgetConnections() : undefined),
      });
      await enqueue(producer);
      await waitUntil('a job runs', () => runs.length === 1);

      const isEnqueued = () =>
        enqueue(producer).then(
          () => true,
          () => false,
        );
      expect(await isEnqueued()).toBe(false);
      await waitUntil('a job is enqueued', isEnqueued);
      await waitUntil('another job runs', () => runs.length > 1);
      wire.cutConnections();
      await queue.close();
      await stop();
    });
  }
});
