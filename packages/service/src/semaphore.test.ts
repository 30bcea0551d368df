import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createSemaphore } from './semaphore.ts';

// The clock is the one thing here that is not real: what is promised is about time.
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Starts work that ends when it is told to. Returns what has started so far, and how each is ended. */
function startAll(count: number, limit: number, patienceMs: number) {
  const run = createSemaphore(limit, patienceMs);
  const started: number[] = [];
  const ends: (() => void)[] = [];
  const all = Array.from({ length: count }, (_, index) =>
    run(() => {
      started.push(index);
      return new Promise<void>((end) => (ends[index] = end));
    }),
  );
  return { started, ends, all };
}

test('no more than the limit is under way, and the next starts when one ends', async () => {
  const { started, ends } = startAll(4, 2, 1_000);
  expect(started).toEqual([0, 1]);
  ends[1]!();
  await vi.advanceTimersByTimeAsync(0);
  expect(started).toEqual([0, 1, 2]);
  ends[0]!();
  ends[2]!();
  await vi.advanceTimersByTimeAsync(0);
  expect(started).toEqual([0, 1, 2, 3]);
});

test('who comes while a place is handed over does not come in between', async () => {
  const run = createSemaphore(1, 250);
  const started: string[] = [];
  const start = (name: string) => void run(() => new Promise<void>(() => void started.push(name)));
  start('first');
  start('second');
  setTimeout(() => start('third'), 250);
  // Both timers in one turn.
  vi.advanceTimersByTime(250);
  await vi.advanceTimersByTimeAsync(0);
  expect(started).toEqual(['first', 'second']);
});

test('what takes longer than the patience gives its place to the next, and only once', async () => {
  const { started, ends, all } = startAll(4, 1, 250);
  await vi.advanceTimersByTimeAsync(250);
  expect(started).toEqual([0, 1]);
  ends[0]!();
  await all[0];
  expect(started).toEqual([0, 1]);
  await vi.advanceTimersByTimeAsync(250);
  expect(started).toEqual([0, 1, 2]);
});

test('work that fails gives its place back', async () => {
  const run = createSemaphore(1, 1_000);
  await expect(run(() => Promise.reject(new Error('no luck')))).rejects.toThrow('no luck');
  expect(await run(() => Promise.resolve('done'))).toBe('done');
});
