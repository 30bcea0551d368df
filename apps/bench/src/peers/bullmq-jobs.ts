import type { JobsOptions, WorkerOptions } from 'bullmq';

export const QUEUE_NAME = 'confirm';

/** What a job carries: the data is in Postgres. */
export interface ConfirmJob {
  serial: number;
}

/** As Floodgate's jobs: retried, and gone once they are done. */
export const JOB_OPTIONS: JobsOptions = {
  attempts: 10,
  backoff: { type: 'exponential', delay: 500, jitter: 0.5 },
  removeOnComplete: true,
  removeOnFail: { age: 30 * 24 * 3600, count: 100_000 },
};

/** A worker that dies leaves its jobs to others after as long as Floodgate's. */
export const WORKER_OPTIONS = {
  lockDuration: 15_000,
  stalledInterval: 15_000,
} satisfies Partial<WorkerOptions>;
