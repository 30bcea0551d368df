/** Batches that one job can speak of. */
const BATCHES_PER_JOB = 500;

/**
 * Tells the queue of committed batches: at once after a quiet time, and otherwise together with what commits within
 * the interval. A job costs the queue and its worker far more than the batch's one row does.
 */
export class QueueNotifier {
  readonly #enqueue: (batchIds: string[]) => void;
  readonly #intervalMs: number;
  #committed: string[] = [];
  #timer: NodeJS.Timeout | null = null;

  /** `enqueue` adds a job. It must not throw: the relay finds a batch that the queue was not told of. */
  constructor(enqueue: (batchIds: string[]) => void, intervalMs: number) {
    this.#enqueue = enqueue;
    this.#intervalMs = intervalMs;
  }

  /** Tells of a batch, now or within the interval. */
  notify(batchId: string): void {
    this.#committed.push(batchId);
    if (this.#timer === null) this.flush();
  }

  /** Tells now of everything that was held back. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#committed.length === 0) return;
    for (let from = 0; from < this.#committed.length; from += BATCHES_PER_JOB) {
      this.#enqueue(this.#committed.slice(from, from + BATCHES_PER_JOB));
    }
    this.#committed = [];
    this.#timer = setTimeout(() => this.flush(), this.#intervalMs);
  }
}
