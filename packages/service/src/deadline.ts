import { setTimeout as delay } from 'node:timers/promises';

/**
 * Resolves or rejects as the promise does. Where that takes longer than `deadlineMs`, returns what `late` returns, or
 * rejects with what it throws. Leaves no timer behind.
 */
export async function withDeadline<T, Late>(promise: Promise<T>, deadlineMs: number, late: () => Late) {
  const over = new AbortController();
  const deadline = delay(deadlineMs, undefined, { signal: over.signal }).then(late);
  return Promise.race([promise, deadline]).finally(() => over.abort());
}
