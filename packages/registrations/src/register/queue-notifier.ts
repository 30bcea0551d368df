import type { ShardBatches } from '../finalize/batch-statements.ts';

/** Batches that one job can speak of. */
const BATCHES_PER_JOB = 500;

/**
 * Notifies the queue of committed batches: at once after a quiet time, and otherwise together with what commits within
 * the interval. A job costs the queue and its worker far more than the batch's one row does.
 * `enqueue` adds a job for batches of one shard. It must not throw: the relay finds a batch that nobody was told of.
 */
export function createQueueNotifier(enqueue: (batches: ShardBatches) => void, intervalMs: number) {
  const committed = new Map<number, string[]>();
  let timer: NodeJS.Timeout | undefined;

  /** Notifies the queue now of everything that was held back. */
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (committed.size === 0) return;
    for (const [shardId, batchIds] of committed)
      while (batchIds.length > 0) enqueue({ shardId, batchIds: batchIds.splice(0, BATCHES_PER_JOB) });
    committed.clear();
    timer = setTimeout(flush, intervalMs);
  }

  /** Sees to it that the queue learns of a committed batch within the interval. */
  function notify(batchId: string, shardId: number): void {
    const others = committed.get(shardId);
    if (others) others.push(batchId);
    else committed.set(shardId, [batchId]);
    if (!timer) flush();
  }

  return { notify, flush };
}
