import type { JobsOptions, WorkerOptions } from 'bullmq';

export const QUEUE_NAME = 'confirm';

/** Payload of a job. The data is in Postgres. */
export interface ConfirmJob {
  serial: number;
}

/** As in Floodgate: jobs are retried, and removed when done. */
export const JOB_OPTIONS: JobsOptions = {
  attempts: 10,
  backoff: { type: 'exponential', delay: 500, jitter: 0.5 },
  removeOnComplete: true,
  removeOnFail: { age: 30 * 24 * 3600, count: 100_000 },
};

/** Other workers take over the jobs of a dead worker after the same time as in Floodgate. */
export const WORKER_OPTIONS = {
  lockDuration: 15_000,
  stalledInterval: 15_000,
} satisfies Partial<WorkerOptions>;
