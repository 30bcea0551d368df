import { setTimeout as delay } from 'node:timers/promises';
import type { JobsOptions, Queue } from 'bullmq';
import { openBackend, type QueueBackend } from './backend.ts';
import { JOBS, QUEUE_NAMES, type NewJob, type QueueName } from './jobs.ts';
import { isPayloadOf } from './payloads.ts';
import type { QueueTarget } from './queue-url.ts';

export interface RetryPolicy {
  /** Attempts before a job is given up. */
  attempts: number;
  /** Wait before the second attempt; doubles with each further one, up to half of it at random. */
  backoffMs: number;
}

export interface ProducerOptions {
  target: QueueTarget;
  namespace: string;
  retry: RetryPolicy;
  /** Told about connection errors, once per attempt to connect. */
  onError: (error: Error) => void;
}

/** How many jobs of each kind a queue holds. */
export type QueueCounts = Record<'waiting' | 'active' | 'delayed' | 'failed', number>;

/** Failed jobs are kept for an operator to look at, but not for ever. */
const KEEP_FAILED = { age: 30 * 24 * 3600, count: 100_000 };

const MAX_FAILED_LOOKED_AT = 10_000;

/** More adds than this under way means the queue has stopped answering; the relay will ring instead. */
const MAX_ADDS_IN_FLIGHT = 1_000;

/** How long a close waits for the adds under way. */
const LAST_ADDS_MS = 1_000;

/** Puts jobs into the queues. */
export class Producer {
  readonly #backend: QueueBackend;
  readonly #queues: Record<QueueName, Queue>;
  readonly #options: JobsOptions;
  readonly #onError: (error: Error) => void;
  readonly #adds = new Set<Promise<void>>();

  constructor({ target, namespace, retry, onError }: ProducerOptions) {
    this.#backend = openBackend(target, { role: 'producer', namespace, onError });
    this.#onError = onError;
    this.#queues = Object.fromEntries(QUEUE_NAMES.map((name) => [name, this.#open(name)])) as Record<
      QueueName,
      Queue
    >;
    this.#options = {
      attempts: retry.attempts,
      backoff: { type: 'exponential', delay: retry.backoffMs, jitter: 0.5 },
      removeOnComplete: true,
      removeOnFail: KEEP_FAILED,
    };
  }

  /** Adds a job. Rejects at once while the queue is down; nothing is held back in memory. */
  async enqueue(job: NewJob): Promise<void> {
    if (!isPayloadOf(job.name, job.payload)) throw new Error(`not a payload of ${job.name}`);
    if (!this.#backend.isUp() || this.#adds.size >= MAX_ADDS_IN_FLIGHT) throw new Error('the queue is down');
    const add = this.#add(job);
    this.#adds.add(add);
    await add.finally(() => this.#adds.delete(add));
  }

  async #add({ name, id, payload }: NewJob): Promise<void> {
    const queue = await this.#readyQueue(JOBS[name].queue);
    await queue.add(name, payload, { ...this.#options, jobId: id });
  }

  /** Removes the kept failed jobs of a queue whose payload `isObsolete`, and answers how many there were. */
  async removeFailed(name: QueueName, isObsolete: (payload: unknown) => boolean): Promise<number> {
    const queue = await this.#readyQueue(name);
    const kept = await queue.getFailed(0, MAX_FAILED_LOOKED_AT - 1);
    const obsolete = kept.filter((job) => isObsolete(job.data));
    await Promise.all(obsolete.map((job) => job.remove()));
    return obsolete.length;
  }

  async counts(name: QueueName): Promise<QueueCounts> {
    const queue = await this.#readyQueue(name);
    const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'failed');
    return { waiting: 0, active: 0, delayed: 0, failed: 0, ...counts };
  }

  /** Whether the queue answers now, as far as the connection knows. */
  isUp(): boolean {
    return this.#backend.isUp();
  }

  /** Resolves when the queue answers and is safe; throws UnsafeQueueError where it could lose jobs. */
  verify(): Promise<void> {
    return this.#backend.verify();
  }

  /** Closes the connections. Adds under way that take too long may be lost to the queue, never to the outbox. */
  async close(): Promise<void> {
    await Promise.race([Promise.allSettled(this.#adds), delay(LAST_ADDS_MS, undefined, { ref: false })]);
    await Promise.allSettled(Object.values(this.#queues).map((queue) => queue.close()));
    await this.#backend.close();
  }

  #open(name: QueueName): Queue {
    const queue = this.#backend.queue(name);
    queue.on('error', this.#onError);
    return queue;
  }

  /** The queue. One whose first look at its server failed is opened anew: BullMQ remembers that failure for ever. */
  async #readyQueue(name: QueueName): Promise<Queue> {
    const queue = this.#queues[name];
    try {
      await queue.waitUntilReady();
      return queue;
    } catch (error) {
      if (this.#queues[name] === queue) {
        this.#queues[name] = this.#open(name);
        void queue.close().catch(() => {});
      }
      throw error;
    }
  }
}
