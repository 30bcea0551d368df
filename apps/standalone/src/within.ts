import { setTimeout as delay } from 'node:timers/promises';

/** Whether the promise settles within this time. Leaves no timer behind. */
export async function within(timeoutMs: number, promise: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  const late = delay(timeoutMs, false, { signal: timer.signal }).catch(() => false);
  const settled = promise.then(
    () => true,
    () => true,
  );
  const inTime = await Promise.race([settled, late]);
  timer.abort();
  return inTime;
}
