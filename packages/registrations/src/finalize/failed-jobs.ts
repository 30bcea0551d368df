import { isPayloadOf } from '@floodgate/queue';

/** Whether a failed job speaks of a batch that is redriven. What else it speaks of is known to Postgres. */
export function speaksOf(payload: unknown, batchIds: ReadonlySet<string>): boolean {
  return (
    isPayloadOf('finalize-batches', payload) && payload.batchIds.some((batchId) => batchIds.has(batchId))
  );
}
