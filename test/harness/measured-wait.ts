import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits for `ms` and then makes `calls` calls, one after the other. Resolves to the time that it took: the
 * reference for a bound on time. Start it together with what is measured, so that both meet the same load.
 */
export async function measuredWait(ms: number, call: () => Promise<unknown>, calls = 10): Promise<number> {
  const startedAt = performance.now();
  await delay(ms);
  for (let count = 0; count < calls; count += 1) await call();
  return performance.now() - startedAt;
}
