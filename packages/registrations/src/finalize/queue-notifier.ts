import { systemClock, type Timer } from '@floodgate/service';
import type { ShardBatches } from './finalize-batches.ts';

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
