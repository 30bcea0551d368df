import { setTimeout as delay } from 'node:timers/promises';
import { createSlots, withDeadline } from '@floodgate/service';
import { DelayedError, UnrecoverableError, type Job, type Processor, type Worker } from 'bullmq';
import type { QueueBackend, QueueOptions, QueuePart } from './backend.ts';
import type { HandledJob, JobResult } from './jobs.ts';
import { openBackend } from './open-backend.ts';
import { isSilence } from './postgres-backend.ts';

export interface ConsumerOptions extends QueueOptions {
  /** Only their queues are consumed, each with as many jobs at once as their definitions say, of all its parts together. */
  jobs: readonly HandledJob[];
  onJobFailed: (failure: { queue: string; name: string; id: string; attempt: number; error: Error }) => void;
}

// A worker that dies leaves its jobs locked this long. Short, because handlers take milliseconds.
const LOCK_MS = 15_000;
// Stalling says something about workers, nothing about the job: it must not use up a job's attempts.
const MAX_STALLS = 100;
// While the queue is away: how soon a worker looks for it again.
const RETRY_MS = 500;

/** Takes jobs from the queues and hands them to their handlers. At least once: handlers are idempotent. */
export class Consumer {
  // Of the connection, as QueueBackend says.
  readonly problem: QueueBackend['problem'];
  readonly verify: QueueBackend['verify'];
  readonly #backend: QueueBackend;
  readonly #options: ConsumerOptions;
  readonly #workers = new Set<Worker>();
  readonly #closing = new AbortController();
  readonly #lastFinishedAt = new Map<string, number>();

  constructor(options: ConsumerOptions) {
    this.#options = options;
    this.#backend = openBackend(options.target, { ...options, role: 'consumer' });
    this.problem = this.#backend.problem;
    this.verify = this.#backend.verify;
    for (const [queue, itsJobs] of Map.groupBy(options.jobs, (job) => job.queue)) {
      this.#lastFinishedAt.set(queue, performance.now());
      this.#consume(queue, itsJobs);
    }
  }

  /** A part takes as many jobs as the queue may run, for it may be the only busy one; those of several parts take turns. */
  #consume(queue: string, jobs: HandledJob[]): void {
    const { concurrency } = jobs[0]!;
    const inSlot = createSlots(concurrency, Math.max(...jobs.map(({ timeoutMs }) => timeoutMs)));
    const process: Processor = (job, token) =>
      inSlot(() => runJob(jobs, job, token)).finally(() =>
        this.#lastFinishedAt.set(queue, performance.now()),
      );
    for (let partition = 0; partition < this.#backend.partitions; partition += 1)
      void this.#keepStarting(() => this.#open({ queue, partition }, process, concurrency));
  }

  /**
   * Starts a worker when its queue answers. Not earlier: a worker whose first look at its server failed remembers
   * that for ever, and asks again without a pause (BullMQ 6.7 on Postgres). And another in place of one whose query was
   * not answered: it would go on with the connection that it listens on, which may be just as dead.
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

  #open(part: QueuePart, process: Processor, concurrency: number): Worker {
    const worker = this.#backend.worker(part, process, {
      autorun: false,
      concurrency,
      lockDuration: LOCK_MS,
      stalledInterval: LOCK_MS,
      maxStalledCount: MAX_STALLS,
      runRetryDelay: RETRY_MS,
    });
    worker.on('error', this.#options.onError);
    worker.on('failed', (job, error) => {
      const { name = '', id = '', attemptsMade = 0 }: Partial<Job> = job ?? {};
      this.#options.onJobFailed({ queue: part.queue, name, id, attempt: attemptsMade, error });
    });
    this.#workers.add(worker);
    return worker;
  }

  /** Returns, by queue, how long ago a job of it was finished, well or not; since the start where none was. */
  idleMs(): Record<string, number> {
    const now = performance.now();
    return Object.fromEntries([...this.#lastFinishedAt].map(([queue, at]) => [queue, Math.round(now - at)]));
  }

  /** Takes no more jobs and waits for those under way, at most `deadlineMs`; what is left runs again elsewhere. */
  async close(deadlineMs: number): Promise<void> {
    this.#closing.abort();
    const closed = Promise.allSettled([...this.#workers].map((worker) => worker.close()));
    await withDeadline(closed, deadlineMs, () => {});
    await this.#backend.close();
  }
}

/** Runs one attempt of a job by its handler. Resolves when it is done; rejects as BullMQ wants to be told of the rest. */
async function runJob(jobs: readonly HandledJob[], job: Job, token?: string): Promise<void> {
  const handled = jobs.find(({ name }) => name === job.name);
  if (!handled?.isPayload(job.data)) throw new UnrecoverableError(`not a job of ours: ${job.name}`);
  const result = await attempt(handled, job);
  if (result === 'done') return;
  if (result.kind === 'give-up') throw new UnrecoverableError(result.reason);
  await job.moveToDelayed(Date.now() + result.delayMs, token);
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
