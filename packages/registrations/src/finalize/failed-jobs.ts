import { finalizeBatchesJob } from './job.ts';

/** Returns whether a failed job speaks of a batch that is redriven. What else it speaks of is known to Postgres. */
export function speaksOf(payload: unknown, batchIds: ReadonlySet<string>): boolean {
  return finalizeBatchesJob.isPayload(payload) && payload.batchIds.some((batchId) => batchIds.has(batchId));
}
