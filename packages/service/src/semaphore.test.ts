import { beforeEach, expect, test } from 'vitest';
import { ManualClock, settle } from '../../../test/harness/manual-clock.ts';
import { createSemaphore } from './semaphore.ts';

let clock: ManualClock;
beforeEach(() => void (clock = new ManualClock()));

/** Starts work that the test ends. Returns the work that has started, and how to end each. */
function startAll(count: number, limit: number, patienceMs: number) {
  const run = createSemaphore(limit, patienceMs, clock);
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

test('no more work than the limit runs, and the next starts when one ends', async () => {
  const { started, ends } = startAll(4, 2, 1_000);
  expect(started).toEqual([0, 1]);
  ends[1]!();
  await settle();
  expect(started).toEqual([0, 1, 2]);
  ends[0]!();
  ends[2]!();
  await settle();
  expect(started).toEqual([0, 1, 2, 3]);
});

test('a caller that arrives while a permit is passed on cannot take it', async () => {
  const run = createSemaphore(1, 250, clock);
  const started: string[] = [];
  const start = (name: string) => void run(() => new Promise<void>(() => void started.push(name)));
  start('first');
  start('second');
  clock.setTimeout(() => start('third'), 250);
  // Both timers in one turn of the event loop.
  clock.block(250);
  await settle();
  expect(started).toEqual(['first', 'second']);
});

test('work that takes longer than the patience releases its permit, and only once', async () => {
  const { started, ends, all } = startAll(4, 1, 250);
  await clock.advance(250);
  expect(started).toEqual([0, 1]);
  ends[0]!();
  await all[0];
  expect(started).toEqual([0, 1]);
  await clock.advance(250);
  expect(started).toEqual([0, 1, 2]);
});

test('failed work releases its permit', async () => {
  const run = createSemaphore(1, 1_000, clock);
  await expect(run(() => Promise.reject(new Error('no luck')))).rejects.toThrow('no luck');
  expect(await run(() => Promise.resolve('done'))).toBe('done');
});
