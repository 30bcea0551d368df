import { randomUUID } from 'node:crypto';
import { Type, type Static, type TSchema } from '@sinclair/typebox';

/** The queues, each scaled on its own. */
export const QUEUE_NAMES = ['finalize'] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];

/** What producer and consumer agree on: where a job goes and what it carries. */
export interface JobDefinition {
  readonly queue: QueueName;
  /** Checked on both sides. Small: a job is a doorbell, the data is in Postgres. */
  readonly payload: TSchema;
}

const UUID = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';

/** Every kind of job, by name. The handlers are in apps/worker. */
export const JOBS = {
  /** Finalizes the registrations of batches that have committed. */
  'finalize-batches': {
    queue: 'finalize',
    payload: Type.Object({
      batchIds: Type.Array(Type.String({ pattern: UUID }), { minItems: 1, maxItems: 1_000 }),
    }),
  },
} as const satisfies Record<string, JobDefinition>;

export type JobName = keyof typeof JOBS;
export type JobPayload<Name extends JobName> = Static<(typeof JOBS)[Name]['payload']>;

/** What a handler may know about the run it is in. */
export interface JobContext {
  /** Whether the queue gives the job up if this attempt fails. */
  isLastAttempt: boolean;
}

/** One handler per kind of job: a missing one does not compile. */
export type JobHandlers = {
  [Name in JobName]: (payload: JobPayload<Name>, context: JobContext) => Promise<void>;
};

/** A job to be enqueued. While a job with the same id exists, kept as failed or not, adding it again does nothing. */
export interface NewJob<Name extends JobName = JobName> {
  name: Name;
  /** No ":" and not all digits. */
  id: string;
  payload: JobPayload<Name>;
}

/**
 * The job that finalizes batches (at least one). Its id is new each time: one that was taken for lost and has arrived, or
 * failed and is kept, never swallows the next.
 */
export function finalizeJob(batchIds: string[]): NewJob {
  return { name: 'finalize-batches', id: randomUUID(), payload: { batchIds } };
}
