import { setTimeout as delay } from 'node:timers/promises';
import { UnrecoverableError, type Job, type Worker } from 'bullmq';
import { isSilence, openBackend, type QueueBackend } from './backend.ts';
import type { JobHandlers, QueueName } from './jobs.ts';
import { isJobName, isPayloadOf } from './payloads.ts';
import type { QueueTarget } from './queue-url.ts';

export interface ConsumerOptions {
  target: QueueTarget;
  namespace: string;
  /** How many jobs of each queue run at once; only these queues are consumed. */
  concurrency: Partial<Record<QueueName, number>>;
  handlers: JobHandlers;
  onJobFailed: (failure: { name: string; id: string; attempt: number; error: Error }) => void;
  onError: (error: Error) => void;
}

// A worker that dies leaves its jobs locked this long. Short, because handlers take milliseconds.
const LOCK_MS = 15_000;
// Stalling says something about workers, nothing about the job: it must not use up a job's attempts.
const MAX_STALLS = 100;

// While the queue is away: how soon a worker looks for it again.
const RETRY_MS = 500;

/** Takes jobs from the queues and hands them to their handlers. At least once: handlers are idempotent. */
export class Consumer {
  readonly #backend: QueueBackend;
  readonly #options: ConsumerOptions;
  readonly #workers = new Set<Worker>();
  readonly #closing = new AbortController();
  #lastFinishedAt = performance.now();

  constructor(options: ConsumerOptions) {
    const { target, namespace, concurrency, onError } = options;
    this.#options = options;
    this.#backend = openBackend(target, { role: 'consumer', namespace, onError });
    for (const [name, jobsAtOnce] of Object.entries(concurrency)) void this.#keepStarting(name, jobsAtOnce);
  }

  /**
   * Starts a worker when its queue answers. Not earlier: a worker whose first look at its server failed remembers
   * that for ever, and asks again without a pause (BullMQ 6.7 on Postgres). And another in place of one whose query was
   * not answered: it would go on with the connection that it listens on, which may be just as dead.
   */
  async #keepStarting(name: string, jobsAtOnce: number): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const worker = this.#open(name, jobsAtOnce);
      const { promise: silence, resolve } = Promise.withResolvers<void>();
      worker.on('error', (error) => isSilence(error) && resolve());
      try {
        await worker.waitUntilReady();
        if (!signal.aborted) await Promise.race([worker.run(), silence]);
      } catch (error) {
        this.#options.onError(error as Error);
      }
      if (signal.aborted) return;
      this.#workers.delete(worker);
      void worker.close(true).catch(() => {});
      await delay(RETRY_MS, undefined, { signal }).catch(() => {});
    }
  }

  #open(name: string, jobsAtOnce: number): Worker {
    const worker = this.#backend.worker(name, (job) => this.#run(job, this.#options.handlers), {
      autorun: false,
      concurrency: jobsAtOnce,
      lockDuration: LOCK_MS,
      stalledInterval: LOCK_MS,
      maxStalledCount: MAX_STALLS,
      runRetryDelay: RETRY_MS,
    });
    worker.on('error', this.#options.onError);
    worker.on('failed', (job, error) => {
      this.#options.onJobFailed({
        name: job?.name ?? '',
        id: job?.id ?? '',
        attempt: job?.attemptsMade ?? 0,
        error,
      });
    });
    this.#workers.add(worker);
    return worker;
  }

  async #run(job: Job, handlers: JobHandlers): Promise<void> {
    const { name, data } = job;
    if (!isJobName(name) || !isPayloadOf(name, data))
      throw new UnrecoverableError(`not a job of ours: ${name}`);
    try {
      await handlers[name](data, { isLastAttempt: job.attemptsMade + 1 >= (job.opts.attempts ?? 1) });
    } finally {
      this.#lastFinishedAt = performance.now();
    }
  }

  /** How long ago a job was finished, well or not; since the start where none was. */
  idleMs(): number {
    return performance.now() - this.#lastFinishedAt;
  }

  isUp(): boolean {
    return this.#backend.isUp();
  }

  /** Resolves when the queue answers and is safe; throws UnsafeQueueError where it could lose jobs. */
  verify(): Promise<void> {
    return this.#backend.verify();
  }

  /** Takes no more jobs and waits for those under way, at most `deadlineMs`; what is left runs again elsewhere. */
  async close(deadlineMs: number): Promise<void> {
    this.#closing.abort();
    const closed = Promise.allSettled([...this.#workers].map((worker) => worker.close()));
    const inTime = new AbortController();
    await Promise.race([closed, delay(deadlineMs, undefined, { signal: inTime.signal }).catch(() => {})]);
    inTime.abort();
    await this.#backend.close();
  }
}
