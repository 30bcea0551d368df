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

/** Every kind of job, by name. The handlers are in apps/worker. */
export const JOBS = {
  /** Finalizes the registrations of batches that have committed. */
  'finalize-batches': {
    queue: 'finalize',
    payload: Type.Object({
      batchIds: Type.Array(Type.String({ pattern: '^[0-9a-f-]{36}$' }), { minItems: 1, maxItems: 1_000 }),
    }),
  },
} as const satisfies Record<string, JobDefinition>;

export type JobName = keyof typeof JOBS;
export type JobPayload<Name extends JobName> = Static<(typeof JOBS)[Name]['payload']>;

/** What a handler may know about the run it is in. */
export interface JobContext {
  /** 1 on the first attempt. */
  attempt: number;
  /** Whether the queue gives the job up if this attempt fails. */
  isLastAttempt: boolean;
}

/** One handler per kind of job: a missing one does not compile. */
export type JobHandlers = {
  [Name in JobName]: (payload: JobPayload<Name>, context: JobContext) => Promise<void>;
};

/** A job to be enqueued. While a job with the same id exists, adding it again does nothing. */
export interface NewJob<Name extends JobName = JobName> {
  name: Name;
  /** No ":" and not all digits. */
  id: string;
  payload: JobPayload<Name>;
}

/** A batch that is to be finalized; `enqueue` counts how often it has been handed to the queue. */
export interface EnqueuedBatch {
  batchId: string;
  enqueue: number;
}

/**
 * The job that finalizes batches (at least one). Its id is made of one of them and of that one's count: unique,
 * because a batch is enqueued once under each count, so a kept failed job never swallows a redrive.
 */
export function finalizeJob(batches: readonly EnqueuedBatch[]): NewJob {
  const [first] = batches;
  if (!first) throw new Error('a job needs a batch');
  const batchIds = batches.map(({ batchId }) => batchId);
  return { name: 'finalize-batches', id: `${first.batchId}_${first.enqueue}`, payload: { batchIds } };
}
