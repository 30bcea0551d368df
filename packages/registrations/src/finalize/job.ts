import { UUID_PATTERN } from '@floodgate/contract';
import { Type } from '@sinclair/typebox';
import { defineJob } from '@floodgate/queue';

/** Finalizes the registrations of batches that have committed. */
export const finalizeBatchesJob = defineJob({
  name: 'finalize-batches',
  queue: 'finalize',
  payload: Type.Object({
    // Jobs of the release before name none, and know of one shard only.
    shardId: Type.Optional(Type.Integer({ minimum: 0 })),
    batchIds: Type.Array(Type.String({ pattern: UUID_PATTERN }), { minItems: 1, maxItems: 1_000 }),
  }),
  partitionKey: ({ shardId = 0 }) => shardId,
  attempts: 10,
  backoffMs: 500,
  timeoutMs: 60_000,
  concurrency: 16,
});

/** Returns whether a failed job speaks of a batch that is redriven. What else it speaks of is known to Postgres. */
export function speaksOf(payload: unknown, batchIds: ReadonlySet<string>): boolean {
  return finalizeBatchesJob.isPayload(payload) && payload.batchIds.some((batchId) => batchIds.has(batchId));
}
