import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { retry } from './retry.ts';

const failing = (times: number) => {
  let attempts = 0;
  return vi.fn(async () => {
    attempts += 1;
    if (attempts <= times) throw new Error(`failure ${attempts}`);
    return attempts;
  });
};

// Delays of node:timers/promises do not run on a fake clock, so these are short and real.
const clock = vi.spyOn(performance, 'now');
beforeEach(() => void clock.mockReturnValue(0));
afterEach(() => void clock.mockReset());

test('work is repeated until it succeeds', async () => {
  const work = failing(3);
  expect(await retry(work, { delayMs: 1 })).toBe(4);
});

test('no attempt starts after the time limit', async () => {
  const work = failing(9);
  const attempt = () => {
    clock.mockReturnValue(work.mock.calls.length * 100);
    return work();
  };
  await expect(retry(attempt, { delayMs: 1, withinMs: 250 })).rejects.toThrow('failure 4');
});

test('a failure that must not be retried is final', async () => {
  const work = failing(9);
  const shouldRetry = (error: unknown) => (error as Error).message !== 'failure 2';
  await expect(retry(work, { delayMs: 1, shouldRetry })).rejects.toThrow('failure 2');
});

test('an abort ends the pause, and allows one more attempt', async () => {
  const work = failing(9);
  const stopping = new AbortController();
  const result = retry(work, { delayMs: 3_600_000, signal: stopping.signal });
  await vi.waitFor(() => expect(work).toHaveBeenCalledTimes(1));
  stopping.abort();
  await expect(result).rejects.toThrow('failure 2');
});
