import { Type, type Static, type TObject } from '@sinclair/typebox';
import { UUID_PATTERN } from '@floodgate/contract';
import { defineJob, type Producer } from '@floodgate/queue';
import { systemClock, whole, type Timer } from '@floodgate/service';

// How processes that commit notify the worker: the job, and when it is enqueued. finalize-batches.ts handles
// it.

const ShardBatches = Type.Object({
  shardId: Type.Integer({ minimum: 0 }),
  batchIds: Type.Array(Type.String({ pattern: UUID_PATTERN }), { maxItems: 1_000 }),
});

/** Batches of one shard, by their ids. */
export type ShardBatches = Static<typeof ShardBatches>;

/** Finalizes committed batches of a shard, and publishes its changes. */
export const finalizeBatchesJob = defineJob({
  name: 'finalize-batches',
  queue: 'finalize',
  payload: ShardBatches,
  attempts: 10,
  backoffMs: 500,
  timeoutMs: 60_000,
  concurrency: 16,
});

/** Settings of all processes that enqueue the job. */
export const finalizeSettings = {
  FINALIZE_ATTEMPTS: whole('attempts before a job fails permanently', [1, 50], finalizeBatchesJob.attempts),
  FINALIZE_BACKOFF_MS: whole(
    'delay before the second attempt; doubles each time',
    [1, 60_000],
    finalizeBatchesJob.backoffMs,
  ),
};

/** Returns a function that enqueues the job with the settings. */
export function finalizeEnqueuer(
  producer: Pick<Producer, 'enqueue'>,
  config: Static<TObject<typeof finalizeSettings>>,
) {
  const { FINALIZE_ATTEMPTS: attempts, FINALIZE_BACKOFF_MS: backoffMs } = config;
  const job = { ...finalizeBatchesJob, attempts, backoffMs };
  return (batches: ShardBatches) => producer.enqueue(job, batches);
}

/**
 * Notifies the queue of committed batches and changes. If none committed for an interval, it enqueues at
 * once. Otherwise it enqueues everything that commits within the interval in one job, because a job costs far
 * more than the batch's row. `enqueue` adds a job for batches of one shard. No answer waits for it, and it
 * may fail: the relay reads the outbox.
 */
export function createQueueNotifier(
  enqueue: (batches: ShardBatches) => Promise<void>,
  intervalMs: number,
  clock = systemClock,
) {
  const committed = new Map<number, string[]>();
  let timer: Timer | undefined;

  /** Enqueues everything that waits for the end of the interval. */
  function flush() {
    clock.clearTimeout(timer);
    timer = committed.size > 0 ? clock.setTimeout(flush, intervalMs) : undefined;
    for (const [shardId, batchIds] of committed) enqueue({ shardId, batchIds }).catch(() => {});
    committed.clear();
  }

  /** Notifies the queue, within the interval, that a shard has committed a batch or changes. */
  function notify(shardId: number, ...batchIds: string[]) {
    committed.getOrInsertComputed(shardId, () => []).push(...batchIds);
    if (!timer) flush();
  }

  return { notify, flush };
}
