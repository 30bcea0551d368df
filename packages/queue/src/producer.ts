import { withDeadline } from '@floodgate/service';
import type { Queue } from 'bullmq';
import type { QueueBackend, QueueOptions } from './backend.ts';
import { queueNames, type JobDefinition, type NewJob } from './jobs.ts';
import { openBackend } from './open-backend.ts';

export interface ProducerOptions extends QueueOptions {
  /** Whose queues are opened at once. A job that is enqueued is attempted as its definition here says. */
  jobs?: readonly JobDefinition[];
}

/** How many jobs of each kind a queue holds. */
export type QueueCounts = Record<'waiting' | 'active' | 'delayed' | 'failed', number>;

/** Failed jobs are kept for an operator to look at, but not for ever. */
const KEEP_FAILED = { age: 30 * 24 * 3600, count: 100_000 };

const MAX_FAILED_LOOKED_AT = 10_000;

/** More adds than this under way means the queue has stopped answering; a capability's rounds find what was refused. */
const MAX_ADDS_IN_FLIGHT = 1_000;

/** How long a close waits for the adds under way. */
const LAST_ADDS_MS = 1_000;

/** Puts jobs into the queues. */
export class Producer {
  // Of the connection, as QueueBackend says.
  readonly problem: QueueBackend['problem'];
  readonly verify: QueueBackend['verify'];
  readonly #backend: QueueBackend;
  readonly #options: ProducerOptions;
  readonly #queues = new Map<string, Queue>();
  readonly #adds = new Set<Promise<void>>();

  constructor(options: ProducerOptions) {
    this.#options = options;
    this.#backend = openBackend(options.target, { ...options, role: 'producer' });
    this.problem = this.#backend.problem;
    this.verify = this.#backend.verify;
    for (const name of queueNames(options.jobs ?? [])) this.#open(name);
  }

  /** Adds a job. Rejects at once while the queue is down; nothing is held back in memory. */
  async enqueue(job: NewJob): Promise<void> {
    const { name, isPayload } = job.definition;
    if (!isPayload(job.payload)) throw new Error(`not a payload of ${name}`);
    if (!this.#backend.isUp() || this.#adds.size >= MAX_ADDS_IN_FLIGHT) throw new Error('the queue is down');
    const add = this.#add(job);
    this.#adds.add(add);
    await add.finally(() => this.#adds.delete(add));
  }

  async #add({ definition, id, payload }: NewJob): Promise<void> {
    const known = this.#options.jobs?.find(({ name }) => name === definition.name);
    const { attempts, backoffMs } = known ?? definition;
    const queue = await this.#readyQueue(definition.queue);
    await queue.add(definition.name, payload, {
      jobId: id,
      attempts,
      backoff: { type: 'exponential', delay: backoffMs, jitter: 0.5 },
      removeOnComplete: true,
      removeOnFail: KEEP_FAILED,
    });
  }

  /** Removes the kept failed jobs of a queue whose payload `isObsolete`, and returns how many there were. */
  async removeFailed(name: string, isObsolete: (payload: unknown) => boolean): Promise<number> {
    const queue = await this.#readyQueue(name);
    const kept = await queue.getFailed(0, MAX_FAILED_LOOKED_AT - 1);
    const obsolete = kept.filter((job) => isObsolete(job.data));
    await Promise.all(obsolete.map((job) => job.remove()));
    return obsolete.length;
  }

  /** Returns how many jobs a queue holds, of all producers and consumers together. */
  async counts(name: string): Promise<QueueCounts> {
    const queue = await this.#readyQueue(name);
    const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'failed');
    return { waiting: 0, active: 0, delayed: 0, failed: 0, ...counts };
  }

  /** Closes the connections. Adds under way that take too long may be lost to the queue, never to the outbox. */
  async close(): Promise<void> {
    await withDeadline(Promise.allSettled(this.#adds), LAST_ADDS_MS, () => {});
    await Promise.allSettled([...this.#queues.values()].map((queue) => queue.close()));
    await this.#backend.close();
  }

  #open(name: string): Queue {
    const queue = this.#backend.queue(name);
    queue.on('error', this.#options.onError);
    this.#queues.set(name, queue);
    return queue;
  }

  /** Returns the queue. One whose first look at its server failed is opened anew: BullMQ remembers that for ever. */
  async #readyQueue(name: string): Promise<Queue> {
    const queue = this.#queues.get(name) ?? this.#open(name);
    try {
      await queue.waitUntilReady();
      return queue;
    } catch (error) {
      if (this.#queues.get(name) === queue) {
        this.#open(name);
        void queue.close().catch(() => {});
      }
      throw error;
    }
  }
}
