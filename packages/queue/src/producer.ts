import { randomUUID } from 'node:crypto';
import { withDeadline } from '@floodgate/service';
import type { Queue } from 'bullmq';
import { openBackend } from './backend.ts';
import type { QueueOptions } from './settings.ts';
import type { JobDefinition } from './jobs.ts';

const STATES = ['waiting', 'active', 'delayed', 'failed'] as const;

/** How many jobs of each kind a queue holds. */
export type QueueCounts = Record<(typeof STATES)[number], number>;

/** Failed jobs are kept for an operator to look at: Postgres knows which batches have failed. */
const KEEP_FAILED = { age: 24 * 3600, count: 10_000 };

/** How long a close waits for pending adds. */
const LAST_ADDS_MS = 1_000;

export type Producer = ReturnType<typeof openProducer>;

/** Opens what puts jobs into the queues. The server need not be up. */
export function openProducer(options: QueueOptions) {
  const backend = openBackend({ ...options, role: 'producer' });
  const queues = new Map<string, Queue>();
  let adds: Promise<unknown> = Promise.resolve();

  /** Returns a queue. BullMQ never recovers a queue whose first connection failed, so that one is closed and forgotten. */
  async function readyQueue(name: string): Promise<Queue> {
    const queue = queues.getOrInsertComputed(name, () => backend.queue(name).on('error', options.onError));
    try {
      await queue.waitUntilReady();
      return queue;
    } catch (error) {
      if (queues.get(name) === queue) queues.delete(name);
      void queue.close().catch(() => {});
      throw error;
    }
  }

  return {
    problem: backend.problem,
    verify: backend.verify,
    /** Adds a job. Rejects at once while the queue is down; nothing is held back in memory. */
    async enqueue<Payload>(job: JobDefinition<Payload>, payload: Payload): Promise<void> {
      if (!job.isPayload(payload)) throw new Error(`not a payload of ${job.name}`);
      if (!backend.isUp()) throw new Error('the queue is down');
      const jobOptions = {
        // A server that lost its data would count from 1 again, and adding an id that exists does nothing.
        jobId: randomUUID(),
        attempts: job.attempts,
        backoff: { type: 'exponential', delay: job.backoffMs, jitter: 0.5 },
        removeOnComplete: true,
        removeOnFail: KEEP_FAILED,
      };
      const added = readyQueue(job.queue).then((queue) => queue.add(job.name, payload, jobOptions));
      adds = Promise.allSettled([adds, added]);
      await added;
    },
    /** Returns how many jobs a queue holds, of all producers and consumers together. */
    async counts(name: string): Promise<QueueCounts> {
      const counts = await (await readyQueue(name)).getJobCounts(...STATES);
      return Object.fromEntries(STATES.map((state) => [state, counts[state] ?? 0])) as QueueCounts;
    },
    /** Returns how many workers are connected to the queue. */
    workers: async (name: string) => (await readyQueue(name)).getWorkersCount(),
    /** Closes the connections. Pending adds that take too long may be lost to the queue, never to the outbox. */
    async close(): Promise<void> {
      await withDeadline(adds, LAST_ADDS_MS, () => {});
      await Promise.allSettled([...queues.values()].map((queue) => queue.close()));
      await backend.close();
    },
  };
}
