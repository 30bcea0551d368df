import { setTimeout as delay } from 'node:timers/promises';

/** Settles as the promise does or, if that takes longer than `deadlineMs`, as `late` does. Leaves no timer behind. */
export async function withDeadline<T, Late>(promise: Promise<T>, deadlineMs: number, late: () => Late) {
  const over = new AbortController();
  const deadline = delay(deadlineMs, undefined, { signal: over.signal }).then(late);
  return Promise.race([promise, deadline]).finally(() => over.abort());
}
