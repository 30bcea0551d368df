import { UUID_PATTERN } from '@floodgate/contract';
import { Type } from '@sinclair/typebox';
import { defineJob, job, type NewJob } from '@floodgate/queue';

/** Finalizes the registrations of batches that have committed. */
export const finalizeBatchesJob = defineJob({
  name: 'finalize-batches',
  queue: 'finalize',
  payload: Type.Object({
    batchIds: Type.Array(Type.String({ pattern: UUID_PATTERN }), { minItems: 1, maxItems: 1_000 }),
  }),
  attempts: 10,
  backoffMs: 500,
  timeoutMs: 60_000,
  concurrency: 16,
});

/** Returns the job that finalizes these batches (at least one). */
export function finalizeJob(batchIds: string[]): NewJob<typeof finalizeBatchesJob> {
  return job(finalizeBatchesJob, { batchIds });
}
