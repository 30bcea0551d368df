import { setTimeout as delay } from 'node:timers/promises';

interface RetryOptions {
  /** Pause before the next attempt. */
  delayMs: number;
  /** No attempt starts later than this after the first one started. */
  withinMs?: number;
  /** Called after each failure. `false` makes it the result. */
  shouldRetry?: (error: unknown) => boolean;
  /** Once aborted, the next failure is the result. */
  signal?: AbortSignal;
}

/** Repeats the work until it succeeds. Rejects with the last failure if it must not be retried, the time is over or it is aborted. */
export async function retry<Result>(
  work: () => Promise<Result>,
  { delayMs, withinMs = Infinity, shouldRetry = () => true, signal }: RetryOptions,
): Promise<Result> {
  const lastStartAt = performance.now() + withinMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!shouldRetry(error) || signal?.aborted || performance.now() + delayMs > lastStartAt) throw error;
    }
    // An abort ends the pause: one more attempt follows, and its failure is the result.
    await delay(delayMs, undefined, signal && { signal }).catch(() => {});
  }
}

/** Settles as the promise does or, if that takes longer than `deadlineMs`, as `late` does. Leaves no timer behind. */
export async function withDeadline<T, Late>(promise: Promise<T>, deadlineMs: number, late: () => Late) {
  const over = new AbortController();
  const deadline = delay(deadlineMs, undefined, { signal: over.signal }).then(late);
  return Promise.race([promise, deadline]).finally(() => over.abort());
}
