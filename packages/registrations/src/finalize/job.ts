import { UUID_PATTERN } from '@floodgate/contract';
import { Type } from '@sinclair/typebox';
import { defineJob } from '@floodgate/queue';

/** Finalizes committed batches of a shard, and publishes its changes. */
export const finalizeBatchesJob = defineJob({
  name: 'finalize-batches',
  queue: 'finalize',
  payload: Type.Object({
    shardId: Type.Integer({ minimum: 0 }),
    batchIds: Type.Array(Type.String({ pattern: UUID_PATTERN }), { maxItems: 1_000 }),
  }),
  attempts: 10,
  backoffMs: 500,
  timeoutMs: 60_000,
  concurrency: 16,
});
