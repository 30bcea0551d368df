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

/** A consumer and what it has seen. */
export interface TestConsumer {
  /** Once is enough: the end of the test closes only what is still open. */
  close(deadlineMs: number): Promise<void>;
  idleMs(): number;
  runs: Run[];
  failures: { queue: string; name: string; id: string; attempt: number; message: string }[];
}

export interface ConsumeOptions {
  concurrency?: number;
  /** What it resolves with is the job's result; nothing is `done`. */
  handler?: (run: Run) => Promise<JobResult | void>;
  /** The job's own, unless a test is about it. */
  timeoutMs?: number;
}

/** A namespace of its own on a queue server, with everything that is opened in it. */
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

  /** A producer whose server may be away. */
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
      onJobFailed: ({ error, ...failed }) => failures.push({ ...failed, message: error.message }),
    });
    let closed: Promise<void> | undefined;
    const close = (deadlineMs: number) => (closed ??= consumer.close(deadlineMs));
    this.#closers.push(() => close(5_000));
    return { close, idleMs: () => consumer.idleMs()['finalize']!, runs, failures };
  }

  /** The queue as BullMQ gives it, to look and to write past the rules of Producer. */
  async raw() {
    const backend = openBackend({ ...this.#options(), role: 'producer' });
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

/** A payload with these batches, or with one that does not exist. */
export const batches = (...batchIds: string[]): ShardBatches => ({
  shardId: 0,
  batchIds: batchIds.length > 0 ? batchIds : [randomUUID()],
});

/** Adds a job with these batches, or with one that does not exist. */
export const enqueue = (producer: Producer, payload = batches()) =>
  producer.enqueue(finalizeBatchesJob, payload);

/** As many as one likes, at once. */
export const enqueueAll = (producer: Producer, payloads: readonly ShardBatches[]) =>
  Promise.all(payloads.map((payload) => enqueue(producer, payload)));

/** Waits until the queue holds exactly this, and nothing else. */
export async function waitForCounts(producer: Producer, expected: Partial<QueueCounts>): Promise<void> {
  const wanted = JSON.stringify({ waiting: 0, active: 0, delayed: 0, failed: 0, ...expected });
  await waitUntil(`the queue holds ${wanted}`, async () => {
    const { waiting, active, delayed, failed } = await producer.counts('finalize');
    return JSON.stringify({ waiting, active, delayed, failed }) === wanted;
  });
}
