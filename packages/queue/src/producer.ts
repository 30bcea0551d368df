import { randomUUID } from 'node:crypto';
import { withDeadline } from '@floodgate/service';
import type { Queue } from 'bullmq';
import { openBackend, type QueueBackend } from './backend.ts';
import type { QueueOptions } from './settings.ts';
import type { JobDefinition } from './jobs.ts';

const STATES = ['waiting', 'active', 'delayed', 'failed'] as const;

/** Number of jobs in a queue, by state. */
export type QueueCounts = Record<(typeof STATES)[number], number>;

/** Failed jobs are kept for operators to inspect. Postgres knows which batches have failed. */
const KEEP_FAILED = { age: 24 * 3600, count: 10_000 };

/** Limit of the wait for pending adds when the producer closes. */
const LAST_ADDS_MS = 1_000;

/** Adds jobs to queues. */
export interface Producer extends Pick<QueueBackend, 'problem' | 'verify'> {
  /** Adds a job. Rejects immediately while the queue is down: no job is kept in memory. */
  enqueue<Payload>(job: JobDefinition<Payload>, payload: Payload): Promise<void>;
  /** Returns the number of jobs in a queue, of all producers and consumers together. */
  counts(name: string): Promise<QueueCounts>;
  /** Returns the number of workers that are connected to the queue. */
  workers(name: string): Promise<number>;
  /**
   * Closes the connections. The queue can lose pending adds that take too long. The outbox still has them.
   */
  close(): Promise<void>;
}

/** Opens a producer. The server can be down. */
export function openProducer(options: QueueOptions): Producer {
  const backend = openBackend(options, 'producer');
  const queues = new Map<string, Queue>();
  let adds: Promise<unknown> = Promise.resolve();

  /**
   * Returns a queue. BullMQ never recovers a queue whose first connection failed, so it is closed and
   * removed.
   */
  async function readyQueue(name: string) {
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
    async enqueue(job, payload) {
      if (!job.isPayload(payload)) throw new Error(`not a payload of ${job.name}`);
      if (!backend.isUp()) throw new Error('the queue is down');
      const jobOptions = {
        // Random, because a server that lost its data would count from 1 again, and adding an existing id
        // does nothing.
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
    async counts(name) {
      const counts = await (await readyQueue(name)).getJobCounts(...STATES);
      return Object.fromEntries(STATES.map((state) => [state, counts[state] ?? 0])) as QueueCounts;
    },
    workers: async (name) => (await readyQueue(name)).getWorkersCount(),
    async close() {
      await withDeadline(adds, LAST_ADDS_MS, () => {});
      await Promise.allSettled([...queues.values()].map((queue) => queue.close()));
      await backend.close();
    },
  };
}
