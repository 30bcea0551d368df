import { sleep, systemClock, type Clock } from './clock.ts';

interface RetryOptions {
  /** Pause before the next attempt. */
  delayMs: number;
  /** No attempt starts later than this after the start of the first one. */
  withinMs?: number;
  /** Called after each failure. If it returns false, the failure is final. */
  shouldRetry?: (error: unknown) => boolean;
  /** After an abort, the next failure is final. */
  signal?: AbortSignal;
  clock?: Clock | undefined;
}

/**
 * Repeats the work until it succeeds. Rejects with a failure that is final, or with the last one before the
 * time limit.
 */
export async function retry<Result>(
  work: () => Promise<Result>,
  { delayMs, withinMs = Infinity, shouldRetry = () => true, signal, clock = systemClock }: RetryOptions,
): Promise<Result> {
  const lastStartAt = clock.now() + withinMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!shouldRetry(error) || signal?.aborted || clock.now() + delayMs > lastStartAt) throw error;
    }
    // An abort ends the pause. One more attempt follows, and its failure is final.
    await sleep(clock, delayMs, signal);
  }
}
