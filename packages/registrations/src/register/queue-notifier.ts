/** Batches that one job can speak of. */
const BATCHES_PER_JOB = 500;

/**
 * Notifies the queue of committed batches: at once after a quiet time, and otherwise together with what commits within
 * the interval. A job costs the queue and its worker far more than the batch's one row does.
 * `enqueue` adds a job for these batches. It must not throw: the relay finds a batch that nobody was told of.
 */
export function createQueueNotifier(enqueue: (batchIds: string[]) => void, intervalMs: number) {
  const committed: string[] = [];
  let timer: NodeJS.Timeout | undefined;

  /** Notifies the queue now of everything that was held back. */
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (committed.length === 0) return;
    while (committed.length > 0) enqueue(committed.splice(0, BATCHES_PER_JOB));
    timer = setTimeout(flush, intervalMs);
  }

  /** Sees to it that the queue learns of a committed batch within the interval. */
  function notify(batchId: string): void {
    committed.push(batchId);
    if (!timer) flush();
  }

  return { notify, flush };
}
