import { withDeadline } from '@floodgate/service';
import type { Queue } from 'bullmq';
import type { QueueBackend, QueueOptions, QueuePart } from './backend.ts';
import { queueNames, type JobDefinition, type NewJob } from './jobs.ts';
import { openBackend } from './open-backend.ts';
import { partitionOf } from './partitions.ts';

export interface ProducerOptions extends QueueOptions {
  /** Whose queues are opened at once. A job that is enqueued is attempted as its definition here says. */
  jobs?: readonly JobDefinition[];
}

const STATES = ['waiting', 'active', 'delayed', 'failed'] as const;

/** How many jobs of each kind a queue holds. */
export type QueueCounts = Record<(typeof STATES)[number], number>;

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
    for (const name of queueNames(options.jobs ?? []))
      for (const part of this.#partsOf(name)) this.#open(part);
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
    const key = definition.partitionKey?.(payload as never) ?? 0;
    const partition = partitionOf(key, this.#backend.partitions);
    const queue = await this.#readyQueue({ queue: definition.queue, partition });
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
    const removed = await this.#inEachPart(name, async (queue) => {
      const kept = await queue.getFailed(0, MAX_FAILED_LOOKED_AT - 1);
      const obsolete = kept.filter((job) => isObsolete(job.data));
      await Promise.all(obsolete.map((job) => job.remove()));
      return obsolete.length;
    });
    return sum(removed);
  }

  /** Returns how many jobs a queue holds, of all producers and consumers together. */
  async counts(name: string): Promise<QueueCounts> {
    const counts = await this.#inEachPart(name, (queue) => queue.getJobCounts(...STATES));
    const totals = STATES.map((state) => [state, sum(counts.map((ofPart) => ofPart[state] ?? 0))]);
    return Object.fromEntries(totals) as QueueCounts;
  }

  /** Returns how many workers are connected to the queue: to the part with the fewest, where it has several. */
  async workers(name: string): Promise<number> {
    return Math.min(...(await this.#inEachPart(name, (queue) => queue.getWorkersCount())));
  }

  /** Closes the connections. Adds under way that take too long may be lost to the queue, never to the outbox. */
  async close(): Promise<void> {
    await withDeadline(Promise.allSettled(this.#adds), LAST_ADDS_MS, () => {});
    await Promise.allSettled([...this.#queues.values()].map((queue) => queue.close()));
    await this.#backend.close();
  }

  #partsOf(queue: string): QueuePart[] {
    return Array.from({ length: this.#backend.partitions }, (_, partition) => ({ queue, partition }));
  }

  /** Rejects where one of the parts does. */
  #inEachPart<Result>(name: string, look: (queue: Queue) => Promise<Result>): Promise<Result[]> {
    return Promise.all(this.#partsOf(name).map(async (part) => look(await this.#readyQueue(part))));
  }

  #open(part: QueuePart): Queue {
    const queue = this.#backend.queue(part);
    queue.on('error', this.#options.onError);
    this.#queues.set(nameOf(part), queue);
    return queue;
  }

  /** Returns the part of a queue. One whose first look at its server failed is opened anew: BullMQ remembers that for ever. */
  async #readyQueue(part: QueuePart): Promise<Queue> {
    const queue = this.#queues.get(nameOf(part)) ?? this.#open(part);
    try {
      await queue.waitUntilReady();
      return queue;
    } catch (error) {
      if (this.#queues.get(nameOf(part)) === queue) {
        this.#open(part);
        void queue.close().catch(() => {});
      }
      throw error;
    }
  }
}

const nameOf = ({ queue, partition }: QueuePart) => `${queue}-${partition}`;

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
