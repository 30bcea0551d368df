import { setTimeout as delay } from 'node:timers/promises';
import { withDeadline } from '@floodgate/service';
import type { Job, Worker } from 'bullmq';
import type { QueueBackend } from './backend.ts';
import type { HandledJob } from './handle-job.ts';
import { openBackend } from './open-backend.ts';
import { isSilence } from './postgres-backend.ts';
import type { QueueTarget } from './queue-url.ts';
import { runJob } from './run-job.ts';

export interface ConsumerOptions {
  target: QueueTarget;
  namespace: string;
  /** Only their queues are consumed, each with as many jobs at once as their definitions say. */
  jobs: readonly HandledJob[];
  onJobFailed: (failure: { queue: string; name: string; id: string; attempt: number; error: Error }) => void;
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
  readonly #lastFinishedAt = new Map<string, number>();

  constructor(options: ConsumerOptions) {
    const { target, namespace, jobs, onError } = options;
    this.#options = options;
    this.#backend = openBackend(target, { role: 'consumer', namespace, onError });
    for (const [queue, itsJobs] of Map.groupBy(jobs, (job) => job.queue)) {
      this.#lastFinishedAt.set(queue, performance.now());
      void this.#keepStarting(queue, itsJobs);
    }
  }

  /**
   * Starts a worker when its queue answers. Not earlier: a worker whose first look at its server failed remembers
   * that for ever, and asks again without a pause (BullMQ 6.7 on Postgres). And another in place of one whose query was
   * not answered: it would go on with the connection that it listens on, which may be just as dead.
   */
  async #keepStarting(queue: string, jobs: HandledJob[]): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const worker = this.#open(queue, jobs);
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

  #open(queue: string, jobs: HandledJob[]): Worker {
    const run = (job: Job, token?: string) =>
      runJob(jobs, job, token).finally(() => this.#lastFinishedAt.set(queue, performance.now()));
    const worker = this.#backend.worker(queue, run, {
      autorun: false,
      concurrency: jobs[0]!.concurrency,
      lockDuration: LOCK_MS,
      stalledInterval: LOCK_MS,
      maxStalledCount: MAX_STALLS,
      runRetryDelay: RETRY_MS,
    });
    worker.on('error', this.#options.onError);
    worker.on('failed', (job, error) => {
      this.#options.onJobFailed({
        queue,
        name: job?.name ?? '',
        id: job?.id ?? '',
        attempt: job?.attemptsMade ?? 0,
        error,
      });
    });
    this.#workers.add(worker);
    return worker;
  }

  /** Returns, by queue, how long ago a job of it was finished, well or not; since the start where none was. */
  idleMs(): Record<string, number> {
    const now = performance.now();
    return Object.fromEntries([...this.#lastFinishedAt].map(([queue, at]) => [queue, Math.round(now - at)]));
  }

  /** Returns why the queue is down, as far as the connection knows; null while it is up. */
  problem(): string | null {
    return this.#backend.problem();
  }

  /** Resolves when the queue answers and is safe; throws UnsafeQueueError where it could lose jobs. */
  verify(): Promise<void> {
    return this.#backend.verify();
  }

  /** Takes no more jobs and waits for those under way, at most `deadlineMs`; what is left runs again elsewhere. */
  async close(deadlineMs: number): Promise<void> {
    this.#closing.abort();
    await withDeadline(
      Promise.allSettled([...this.#workers].map((worker) => worker.close())),
      deadlineMs,
      () => {},
    );
    await this.#backend.close();
  }
}
