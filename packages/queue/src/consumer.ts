import { UnrecoverableError, type Job, type Worker } from 'bullmq';
import { openBackend, type QueueBackend } from './backend.ts';
import type { JobHandlers, QueueName } from './jobs.ts';
import { isJobName, isPayloadOf } from './payloads.ts';
import type { QueueTarget } from './queue-url.ts';

export interface ConsumerOptions {
  target: QueueTarget;
  namespace?: string;
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

/** Takes jobs from the queues and hands them to their handlers. At least once: handlers are idempotent. */
export class Consumer {
  readonly #backend: QueueBackend;
  readonly #workers: Worker[];
  #lastFinishedAt = Date.now();

  constructor({ target, namespace, concurrency, handlers, onJobFailed, onError }: ConsumerOptions) {
    this.#backend = openBackend(target, { role: 'consumer', onError, ...(namespace && { namespace }) });
    this.#workers = Object.entries(concurrency).map(([name, jobsAtOnce]) => {
      const worker = this.#backend.worker(name, (job) => this.#run(job, handlers), {
        concurrency: jobsAtOnce,
        lockDuration: LOCK_MS,
        stalledInterval: LOCK_MS,
        maxStalledCount: MAX_STALLS,
      });
      worker.on('error', onError);
      worker.on('failed', (job, error) => {
        onJobFailed({ name: job?.name ?? '', id: job?.id ?? '', attempt: job?.attemptsMade ?? 0, error });
      });
      return worker;
    });
  }

  async #run(job: Job, handlers: JobHandlers): Promise<void> {
    const { name, data } = job;
    if (!isJobName(name) || !isPayloadOf(name, data))
      throw new UnrecoverableError(`not a job of ours: ${name}`);
    const attempt = job.attemptsMade + 1;
    try {
      await handlers[name](data, {
        attempt,
        isLastAttempt: attempt >= (job.opts.attempts ?? 1),
      });
    } finally {
      this.#lastFinishedAt = Date.now();
    }
  }

  /** How long ago a job was finished, well or not; since the start where none was. */
  idleMs(): number {
    return Date.now() - this.#lastFinishedAt;
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
    const { promise: deadline, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, deadlineMs);
    await Promise.race([Promise.allSettled(this.#workers.map((worker) => worker.close())), deadline]);
    clearTimeout(timer);
    await this.#backend.close();
  }
}
