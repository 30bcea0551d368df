import { setTimeout as delay } from 'node:timers/promises';
import { withDeadline } from '@floodgate/service';
import { DelayedError, UnrecoverableError, type Job, type Processor, type Worker } from 'bullmq';
import type { QueueBackend, QueueOptions } from './backend.ts';
import type { HandledJob, JobResult } from './jobs.ts';
import { openBackend } from './open-backend.ts';
import { isSilence } from './postgres-backend.ts';

export interface ConsumerOptions extends QueueOptions {
  /** Only their queues are consumed. The definitions say how many jobs of a queue run at once. */
  jobs: readonly HandledJob[];
  onJobFailed: (failure: { queue: string; name: string; id: string; attempt: number; error: Error }) => void;
}

// The jobs of a worker that dies stay locked for this long. Short, because handlers take milliseconds.
const LOCK_MS = 15_000;
// A stalled job says that a worker died, and nothing about the job: it must not use up the job's attempts.
const MAX_STALLS = 100;
// Delay before a worker looks for its queue again while that is away.
const RETRY_MS = 500;

/** Takes jobs from the queues and passes them to their handlers. At least once: handlers are idempotent. */
export class Consumer {
  readonly problem: QueueBackend['problem'];
  readonly verify: QueueBackend['verify'];
  readonly #backend: QueueBackend;
  readonly #options: ConsumerOptions;
  readonly #workers = new Set<Worker>();
  readonly #closing = new AbortController();
  readonly #lastFinishedAt = new Map<string, number>();

  constructor(options: ConsumerOptions) {
    this.#options = options;
    this.#backend = openBackend({ ...options, role: 'consumer' });
    this.problem = this.#backend.problem;
    this.verify = this.#backend.verify;
    for (const [queue, itsJobs] of Map.groupBy(options.jobs, (job) => job.queue)) {
      this.#lastFinishedAt.set(queue, performance.now());
      void this.#keepStarting(() => this.#open(queue, itsJobs));
    }
  }

  /**
   * Starts a worker when its queue answers. Not earlier: a worker whose first connection failed never recovers, and retries
   * without a pause (BullMQ 6.7 on Postgres). A worker whose query got no answer is replaced too: the connection on which it
   * listens may be just as dead.
   */
  async #keepStarting(open: () => Worker): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const worker = open();
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

  #open(queue: string, jobs: readonly HandledJob[]): Worker {
    const process: Processor = (job, token) =>
      runJob(jobs, job, token).finally(() => this.#lastFinishedAt.set(queue, performance.now()));
    const worker = this.#backend.worker(queue, process, {
      autorun: false,
      concurrency: jobs[0]!.concurrency,
      lockDuration: LOCK_MS,
      stalledInterval: LOCK_MS,
      maxStalledCount: MAX_STALLS,
      runRetryDelay: RETRY_MS,
    });
    worker.on('error', this.#options.onError);
    worker.on('failed', (job, error) => {
      const { name = '', id = '', attemptsMade = 0 }: Partial<Job> = job ?? {};
      this.#options.onJobFailed({ queue, name, id, attempt: attemptsMade, error });
    });
    this.#workers.add(worker);
    return worker;
  }

  /** Returns, by queue, how long ago a job of it succeeded or failed; since the start if none did. */
  idleMs(): Record<string, number> {
    const now = performance.now();
    return Object.fromEntries([...this.#lastFinishedAt].map(([queue, at]) => [queue, Math.round(now - at)]));
  }

  /** Takes no more jobs and waits for running ones, at most `deadlineMs`; unfinished ones run again elsewhere. */
  async close(deadlineMs: number): Promise<void> {
    this.#closing.abort();
    const closed = Promise.allSettled([...this.#workers].map((worker) => worker.close()));
    await withDeadline(closed, deadlineMs, () => {});
    await this.#backend.close();
  }
}

/** Runs one attempt of a job. Resolves when it is done; other outcomes are the errors that BullMQ expects for them. */
async function runJob(jobs: readonly HandledJob[], job: Job, token?: string): Promise<void> {
  const handled = jobs.find(({ name }) => name === job.name);
  if (!handled?.isPayload(job.data)) throw new UnrecoverableError(`not a job of ours: ${job.name}`);
  const result = await attempt(handled, job);
  if (result === 'done') return;
  await job.moveToDelayed(Date.now() + result.snoozeMs, token);
  throw new DelayedError();
}

async function attempt({ timeoutMs, handle }: HandledJob, job: Job): Promise<JobResult> {
  const timeout = new AbortController();
  const isLastAttempt = job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
  const context = { isLastAttempt, signal: timeout.signal };
  const result = await withDeadline(handle(job.data as never, context), timeoutMs, () => undefined);
  if (result !== undefined) return result;
  const error = new Error(`the attempt took longer than ${timeoutMs} ms`);
  timeout.abort(error);
  throw error;
}
