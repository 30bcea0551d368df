import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 20;

/** Waits until the condition holds and answers what it found. Fails, saying what it waited for, after `timeoutMs`. */
export async function waitUntil<T>(
  what: string,
  condition: () => Promise<T | false | null | undefined> | T | false | null | undefined,
  timeoutMs = 30_000,
): Promise<T> {
  const giveUpAt = performance.now() + timeoutMs;
  for (;;) {
    const found = await condition();
    if (found !== false && found !== null && found !== undefined) return found;
    if (performance.now() > giveUpAt) throw new Error(`waited ${timeoutMs} ms in vain: ${what}`);
    await delay(POLL_MS);
  }
}
