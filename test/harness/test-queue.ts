import type { Clock } from '@floodgate/service/clock';
import { randomBytes, randomUUID } from 'node:crypto';
import {
  handled,
  migrateQueue,
  openBackend,
  openConsumer,
  openProducer,
  parseQueueUrl,
  type JobContext,
  type JobDefinition,
  type JobResult,
  type Producer,
  type QueueCounts,
} from '@floodgate/queue';
import { finalizeBatchesJob, type ShardBatches } from '@floodgate/registrations';
import { grantQueueToServiceRoles } from './service-roles.ts';
import { waitUntil } from './wait-until.ts';

type RetryPolicy = Pick<JobDefinition, 'attempts' | 'backoffMs'>;

/** One run of a handler. */
export interface Run extends JobContext {
  shardId: number;
  batchIds: string[];
  at: number;
}

/** A consumer and its runs so far. */
export interface TestConsumer {
  /** Optional: the end of the test closes what is still open. */
  close(deadlineMs: number): Promise<void>;
  idleMs(): number;
  runs: Run[];
  failures: { queue: string; name: string; id: string; attempt: number; message: string }[];
}

export interface ConsumeOptions {
  concurrency?: number;
  /** Resolves with the job's result. Undefined means `done`. */
  handler?: (run: Run) => Promise<JobResult | void>;
  /** By default the job's own. */
  timeoutMs?: number;
  /** By default the consumer's own. */
  lockMs?: number;
  clock?: Clock;
}

/** A new namespace on a queue server, and everything that is opened in it. */
export class TestQueue {
  readonly namespace = `t${randomBytes(6).toString('hex')}`;
  readonly url: string;
  readonly #closers: (() => Promise<unknown>)[] = [];

  constructor(url: string) {
    this.url = url;
  }

  static async open(url: string): Promise<TestQueue> {
    const queue = new TestQueue(url);
    await migrateQueue(parseQueueUrl(url), queue.namespace);
    await grantQueueToServiceRoles(url, queue.namespace);
    return queue;
  }

  async produce(retry?: RetryPolicy): Promise<Producer> {
    const producer = this.openProducer(retry);
    await producer.verify();
    return producer;
  }

  /** Opens a producer. Its server may be down. */
  openProducer(retry: RetryPolicy = { attempts: 3, backoffMs: 1 }): Producer {
    const producer = openProducer(this.#options());
    this.#closers.push(() => producer.close());
    const { enqueue: add } = producer;
    return { ...producer, enqueue: (job, payload) => add({ ...job, ...retry }, payload) };
  }

  consume({
    concurrency = 4,
    handler = () => Promise.resolve(),
    timeoutMs = finalizeBatchesJob.timeoutMs,
    lockMs,
    clock,
  }: ConsumeOptions = {}): TestConsumer {
    const runs: Run[] = [];
    const failures: TestConsumer['failures'] = [];
    const finalize = async (payload: ShardBatches, context: JobContext) => {
      const run = { ...payload, ...context, at: performance.now() };
      runs.push(run);
      return (await handler(run)) ?? 'done';
    };
    const consumer = openConsumer({
      ...this.#options(),
      jobs: [handled({ ...finalizeBatchesJob, concurrency, timeoutMs }, finalize)],
      ...(lockMs !== undefined && { lockMs }),
      clock,
      onJobFailed: ({ error, ...failed }) => failures.push({ ...failed, message: error.message }),
    });
    let closed: Promise<void> | undefined;
    const close = (deadlineMs: number) => (closed ??= consumer.close(deadlineMs));
    this.#closers.push(() => close(5_000));
    return { close, idleMs: () => consumer.idleMs()['finalize']!, runs, failures };
  }

  /** Returns BullMQ's queue, to read and write without the rules of Producer. */
  async raw() {
    const backend = openBackend(this.#options(), 'producer');
    const queue = backend.queue('finalize');
    this.#closers.push(() => queue.close().then(() => backend.close()));
    await backend.verify();
    return queue;
  }

  async close(): Promise<void> {
    await Promise.all(this.#closers.map((close) => close()));
  }

  #options() {
    return { target: parseQueueUrl(this.url), namespace: this.namespace, onError: () => {} };
  }
}

/** Returns a payload with these batches, or with one that does not exist. */
export const batches = (...batchIds: string[]): ShardBatches => ({
  shardId: 0,
  batchIds: batchIds.length > 0 ? batchIds : [randomUUID()],
});

/** Adds a job with these batches, or with one that does not exist. */
export const enqueue = (producer: Producer, payload = batches()) =>
  producer.enqueue(finalizeBatchesJob, payload);

/** Adds several jobs, one after the other: on a busy machine many at once would not all be connected in time. */
export async function enqueueAll(producer: Producer, payloads: readonly ShardBatches[]): Promise<void> {
  for (const payload of payloads) await enqueue(producer, payload);
}

/** Waits until the queue has exactly these counts. */
export async function waitForCounts(producer: Producer, expected: Partial<QueueCounts>): Promise<void> {
  const wanted = JSON.stringify({ waiting: 0, active: 0, delayed: 0, failed: 0, ...expected });
  await waitUntil(`the queue holds ${wanted}`, async () => {
    const { waiting, active, delayed, failed } = await producer.counts('finalize');
    return JSON.stringify({ waiting, active, delayed, failed }) === wanted;
  });
}
