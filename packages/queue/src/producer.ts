import { withDeadline } from '@floodgate/service';
import type { Queue } from 'bullmq';
import type { QueueBackend, QueueOptions } from './backend.ts';
import { queueNames, type JobDefinition, type NewJob } from './jobs.ts';
import { openBackend } from './open-backend.ts';

export interface ProducerOptions extends QueueOptions {
  /** Their queues are opened at once, and their retry settings replace the defaults of the definitions. */
  jobs?: readonly JobDefinition[];
}

const STATES = ['waiting', 'active', 'delayed', 'failed'] as const;

/** How many jobs of each kind a queue holds. */
export type QueueCounts = Record<(typeof STATES)[number], number>;

/** Failed jobs are kept for an operator to look at: Postgres knows which batches have failed. */
const KEEP_FAILED = { age: 24 * 3600, count: 10_000 };

/** How long a close waits for pending adds. */
const LAST_ADDS_MS = 1_000;

/** Puts jobs into the queues. */
export class Producer {
  readonly problem: QueueBackend['problem'];
  readonly verify: QueueBackend['verify'];
  readonly #backend: QueueBackend;
  readonly #options: ProducerOptions;
  readonly #queues = new Map<string, Queue>();
  readonly #adds = new Set<Promise<void>>();

  constructor(options: ProducerOptions) {
    this.#options = options;
    this.#backend = openBackend({ ...options, role: 'producer' });
    this.problem = this.#backend.problem;
    this.verify = this.#backend.verify;
    for (const name of queueNames(options.jobs ?? [])) this.#open(name);
  }

  /** Adds a job. Rejects at once while the queue is down; nothing is held back in memory. */
  async enqueue(job: NewJob): Promise<void> {
    const { name, isPayload } = job.definition;
    if (!isPayload(job.payload)) throw new Error(`not a payload of ${name}`);
    if (!this.#backend.isUp()) throw new Error('the queue is down');
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

  /** Returns how many jobs a queue holds, of all producers and consumers together. */
  async counts(name: string): Promise<QueueCounts> {
    const counts = await (await this.#readyQueue(name)).getJobCounts(...STATES);
    return Object.fromEntries(STATES.map((state) => [state, counts[state] ?? 0])) as QueueCounts;
  }

  /** Returns how many workers are connected to the queue. */
  async workers(name: string): Promise<number> {
    return (await this.#readyQueue(name)).getWorkersCount();
  }

  /** Closes the connections. Pending adds that take too long may be lost to the queue, never to the outbox. */
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

  /** Returns a queue. BullMQ never recovers a queue whose first connection failed, so that one is replaced. */
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
