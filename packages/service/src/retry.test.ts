import { beforeEach, expect, test } from 'vitest';
import { ManualClock, settle } from '../../../test/harness/manual-clock.ts';
import { retry } from './retry.ts';

let clock: ManualClock;
beforeEach(() => void (clock = new ManualClock()));

/** Work that fails this many times, then resolves to the number of its attempts. Records how late each attempt starts. */
function failing(times: number) {
  const start = clock.now();
  const startedAt: number[] = [];
  const work = async () => {
    startedAt.push(clock.now() - start);
    if (startedAt.length <= times) throw new Error(`failure ${startedAt.length}`);
    return startedAt.length;
  };
  return { work, startedAt };
}

test('work is repeated until it succeeds, with a pause after each failure', async () => {
  const { work, startedAt } = failing(3);
  const result = retry(work, { delayMs: 50, clock });
  await clock.runAll();
  expect(await result).toBe(4);
  expect(startedAt).toEqual([0, 50, 100, 150]);
});

test('no attempt starts after the time limit', async () => {
  const { work, startedAt } = failing(9);
  const slow = () => {
    clock.block(60);
    return work();
  };
  const result = retry(slow, { delayMs: 40, withinMs: 280, clock });
  const failed = expect(result).rejects.toThrow('failure 3');
  await clock.runAll();
  await failed;
  // The attempts take 60 ms. The fourth would start at 300 ms.
  expect(startedAt).toEqual([60, 160, 260]);
});

test('a failure that must not be retried is final', async () => {
  const { work } = failing(9);
  const shouldRetry = (error: unknown) => (error as Error).message !== 'failure 2';
  const failed = expect(retry(work, { delayMs: 1, shouldRetry, clock })).rejects.toThrow('failure 2');
  await clock.runAll();
  await failed;
  expect(clock.pending).toBe(0);
});

test('an abort ends the pause, and allows one more attempt', async () => {
  const { work, startedAt } = failing(9);
  const stopping = new AbortController();
  const result = retry(work, { delayMs: 3_600_000, signal: stopping.signal, clock });
  await settle();
  expect(startedAt).toHaveLength(1);
  stopping.abort();
  await expect(result).rejects.toThrow('failure 2');
  expect(clock.pending).toBe(0);
});
