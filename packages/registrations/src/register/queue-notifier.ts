/** Batches that one job can speak of. */
const BATCHES_PER_JOB = 500;

/**
 * Notifies the queue of committed batches: at once after a quiet time, and otherwise together with what commits within
 * the interval. A job costs the queue and its worker far more than the batch's one row does.
 */
export class QueueNotifier {
  readonly #enqueue: (batchIds: string[]) => void;
  readonly #intervalMs: number;
  readonly #committed: string[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** `enqueue` adds a job for these batches. It must not throw: the relay finds a batch that nobody was told of. */
  constructor(enqueue: (batchIds: string[]) => void, intervalMs: number) {
    this.#enqueue = enqueue;
    this.#intervalMs = intervalMs;
  }

  /** Sees to it that the queue learns of a committed batch within the interval. */
  notify(batchId: string): void {
    this.#committed.push(batchId);
    if (!this.#timer) this.flush();
  }

  /** Notifies the queue now of everything that was held back. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#committed.length === 0) return;
    while (this.#committed.length > 0) this.#enqueue(this.#committed.splice(0, BATCHES_PER_JOB));
    this.#timer = setTimeout(() => this.flush(), this.#intervalMs);
  }
}
