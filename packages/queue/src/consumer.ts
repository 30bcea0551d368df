import { retry, systemClock, withDeadline, type Clock } from '@floodgate/service';
import { DelayedError, UnrecoverableError, type Job, type Processor, type Worker } from 'bullmq';
import { openBackend, type QueueBackend } from './backend.ts';
import type { QueueOptions } from './settings.ts';
import type { HandledJob } from './jobs.ts';

/** A failed attempt of a job. */
export interface JobFailure {
  queue: string;
  /** Empty, like the id, if the queue does not say which job it was. */
  name: string;
  id: string;
  attempt: number;
  error: Error;
}

interface ConsumerOptions extends QueueOptions {
  /** Only the queues of these jobs are consumed. */
  jobs: readonly HandledJob[];
  onJobFailed: (failure: JobFailure) => void;
  /**
   * The jobs of a worker that dies stay locked for this long. By default 15 s: short, because handlers take
   * milliseconds.
   */
  lockMs?: number;
  clock?: Clock | undefined;
}

const LOCK_MS = 15_000;
// Delay before a worker retries a queue that is down.
const RETRY_MS = 500;

const WORKER_OPTIONS = {
  autorun: false,
  // A stalled job means that a worker died, not that the job failed: it must not use up the job's attempts.
  maxStalledCount: 100,
  runRetryDelay: RETRY_MS,
};

/** Runs the jobs of queues. */
export interface Consumer extends Pick<QueueBackend, 'problem' | 'verify'> {
  /** Returns, by queue, the time since its last job succeeded or failed, or since the start if none did. */
  idleMs(): Record<string, number>;
  /**
   * Stops taking jobs and waits at most `deadlineMs` for running ones. Another worker repeats unfinished
   * jobs.
   */
  close(deadlineMs: number): Promise<void>;
}

/**
 * Takes jobs from the queues and passes them to their handlers, at least once. So handlers must be
 * idempotent.
 */
export function openConsumer(options: ConsumerOptions): Consumer {
  const { lockMs = LOCK_MS, clock = systemClock } = options;
  const locks = { lockDuration: lockMs, stalledInterval: lockMs };
  const backend = openBackend(options, 'consumer');
  /** The current worker of each queue. */
  const workers = new Map<string, Worker>();
  const closing = new AbortController();
  const lastFinishedAt = new Map<string, number>();

  /**
   * Runs a worker until it stops, then rejects, so that another worker is opened. The worker starts after its
   * queue has answered: a worker whose first connection failed never recovers, and retries without a pause
   * (BullMQ 6.7 on Postgres). A worker whose query got no answer is replaced too, because the connection on
   * which it listens may also be dead.
   */
  async function run(handled: HandledJob): Promise<never> {
    closing.signal.throwIfAborted();
    const { queue, concurrency } = handled;
    const process: Processor = (job, token) =>
      runJob(handled, job, clock, token).finally(() => lastFinishedAt.set(queue, clock.now()));
    const worker = backend.worker(queue, process, { ...WORKER_OPTIONS, ...locks, concurrency });
    workers.set(queue, worker);
    worker.on('failed', (job, error) => {
      const { name = '', id = '', attemptsMade = 0 }: Partial<Job> = job ?? {};
      options.onJobFailed({ queue, name, id, attempt: attemptsMade, error });
    });
    const { promise: silence, resolve } = Promise.withResolvers<void>();
    worker.on('error', options.onError).on('error', (error) => isSilence(error) && resolve());
    try {
      await worker.waitUntilReady();
      await Promise.race([worker.run(), silence]);
      throw new Error('the worker has stopped');
    } finally {
      void worker.close(true).catch(() => {});
    }
  }

  const shouldRetry = (error: unknown) => {
    options.onError(error as Error);
    return true;
  };
  for (const job of options.jobs) {
    lastFinishedAt.set(job.queue, clock.now());
    // Ends when the consumer is closed.
    const retries = { delayMs: RETRY_MS, shouldRetry, signal: closing.signal, clock };
    retry(() => run(job), retries).catch(() => {});
  }

  return {
    problem: backend.problem,
    verify: backend.verify,
    idleMs() {
      const now = clock.now();
      return Object.fromEntries([...lastFinishedAt].map(([queue, at]) => [queue, Math.round(now - at)]));
    },
    async close(deadlineMs) {
      closing.abort();
      const closed = Promise.allSettled([...workers.values()].map((worker) => worker.close()));
      await withDeadline(closed, deadlineMs, () => {}, clock);
      await backend.close();
    },
  };
}

/** Returns whether a query to Postgres got no answer in time. */
const isSilence = (error: Error) => error.message === 'Query read timeout';

/**
 * Runs one attempt of a job. Resolves when it is done; other outcomes are the errors that BullMQ expects for
 * them.
 */
async function runJob(
  { name, isPayload, timeoutMs, handle }: HandledJob,
  job: Job,
  clock: Clock,
  token?: string,
) {
  if (job.name !== name || !isPayload(job.data))
    throw new UnrecoverableError(`unknown job or payload: ${job.name}`);
  const timeout = new AbortController();
  const isLastAttempt = job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
  const attempt = handle(job.data as never, { isLastAttempt, signal: timeout.signal });
  const late = () => {
    timeout.abort(new Error(`the attempt took longer than ${timeoutMs} ms`));
    throw timeout.signal.reason;
  };
  const result = await withDeadline(attempt, timeoutMs, late, clock);
  if (result === 'done') return;
  await job.moveToDelayed(Date.now() + result.snoozeMs, token);
  throw new DelayedError();
}
