import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 20;

/** Waits until the condition is true and returns its value. After `timeoutMs` it throws an error that names the condition. */
export async function waitUntil<T>(
  what: string,
  condition: () => Promise<T | false | null | undefined> | T | false | null | undefined,
  timeoutMs = 120_000,
): Promise<T> {
  const giveUpAt = performance.now() + timeoutMs;
  for (;;) {
    const found = await condition();
    if (found !== false && found !== null && found !== undefined) return found;
    if (performance.now() > giveUpAt) throw new Error(`waited ${timeoutMs} ms in vain: ${what}`);
    await delay(POLL_MS);
  }
}

/**
 * Waits until the condition is true. Returns when it was last asked for and still false, by
 * performance.now(): a slow machine delays the answer, and not what it says.
 */
export async function lastFalse(what: string, condition: () => Promise<boolean>): Promise<number> {
  let falseAt = -Infinity;
  await waitUntil(what, async () => {
    const askedAt = performance.now();
    const isTrue = await condition();
    if (!isTrue) falseAt = askedAt;
    return isTrue;
  });
  return falseAt;
}
