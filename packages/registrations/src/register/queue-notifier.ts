import type { ShardBatches } from '../finalize/finalize-batches.ts';

const BATCHES_PER_JOB = 500;

/**
 * Notifies the queue of committed batches and changes: at once after a quiet time, and otherwise together with what commits
 * within the interval. A job costs the queue and its worker far more than the batch's one row does.
 * `enqueue` adds a job for batches of one shard. It must not throw: the relay finds a batch whose job was lost.
 */
export function createQueueNotifier(enqueue: (batches: ShardBatches) => void, intervalMs: number) {
  const committed = new Map<number, string[]>();
  let timer: NodeJS.Timeout | undefined;

  /** Sends all notifications that wait for the interval. */
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (committed.size === 0) return;
    for (const [shardId, batchIds] of committed)
      do enqueue({ shardId, batchIds: batchIds.splice(0, BATCHES_PER_JOB) });
      while (batchIds.length > 0);
    committed.clear();
    timer = setTimeout(flush, intervalMs);
  }

  /** Notifies the queue within the interval of what a shard has committed: a batch, or changes. */
  function notify(shardId: number, ...batchIds: string[]): void {
    const others = committed.get(shardId);
    if (others) others.push(...batchIds);
    else committed.set(shardId, batchIds);
    if (!timer) flush();
  }

  return { notify, flush };
}
