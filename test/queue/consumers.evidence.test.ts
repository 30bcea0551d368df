import { describe, expect, test } from 'vitest';
import { startHangingConsumer } from '../harness/hanging-consumer.ts';
import { QUEUE_BACKENDS, titleOf, useQueue } from '../harness/queue-backends.ts';
import { batches, enqueue, type TestQueue, waitForCounts } from '../harness/test-queue.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** A job's lock lasts this long, and lost jobs are looked for this often. In production both take 15 s. */
const LOCK_MS = 2_000;

// Consumers that die. Their locks expire in real time.
for (const backend of QUEUE_BACKENDS) {
  describe.skipIf(backend.missing)(titleOf(backend), () => {
    let queue: TestQueue;
    useQueue(backend, (given) => ({ queue } = given));

    test('a job whose consumer was killed is run by another, with no attempt used up', async () => {
      const producer = await queue.produce({ attempts: 2, backoffMs: 1 });
      const job = batches();
      const victim = await startHangingConsumer(queue, LOCK_MS);
      await enqueue(producer, job);
      await waitForCounts(producer, { active: 1 });
      await victim.kill();
      const { runs, failures } = queue.consume({ lockMs: LOCK_MS });
      await waitUntil('the job has run', () => runs.length > 0);
      await waitForCounts(producer, {});
      expect(runs).toMatchObject([{ ...job, isLastAttempt: false }]);
      expect(failures).toEqual([]);
    });
  });
}
