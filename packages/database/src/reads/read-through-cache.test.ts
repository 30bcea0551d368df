import { sleep } from '@floodgate/service/clock';
import { beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../../../../test/harness/manual-clock.ts';
import { readThroughCache } from './read-through-cache.ts';

let clock: ManualClock;
beforeEach(() => void (clock = new ManualClock()));

const pass = (ms: number) => clock.advance(ms);

/** Reads that take this long and resolve to their number. */
function readsThatTake(durationMs: number) {
  let begun = 0;
  const readOne = async () => {
    const nth = (begun += 1);
    if (durationMs > 0) await sleep(clock, durationMs);
    return nth;
  };
  const reads = readThroughCache<string, number>(readOne, undefined, clock);
  const read = async (key = 'gala') => {
    const value = reads.forceFetch(key);
    await pass(durationMs);
    return value;
  };
  return { reads, read, begun: () => begun };
}

test('a value is cached for a second, and then read again', async () => {
  const { reads, read } = readsThatTake(0);
  expect(await read()).toBe(1);
  await pass(990);
  expect(reads.get('gala')).toBe(1);
  await pass(20);
  expect(reads.get('gala')).toBeUndefined();
  expect(await read()).toBe(2);
});

test('the second starts with the read, not with its end', async () => {
  const { reads, read } = readsThatTake(800);
  expect(await read()).toBe(1);
  await pass(190);
  expect(reads.get('gala')).toBe(1);
  await pass(20);
  expect(reads.get('gala')).toBeUndefined();
});

test.each([1_000, 1_400])('a value whose read took %i ms is returned, and not cached', async (durationMs) => {
  const { reads, read } = readsThatTake(durationMs);
  expect(await read()).toBe(1);
  await pass(10);
  expect(reads.get('gala')).toBeUndefined();
});

test('callers during a read wait for that read', async () => {
  const { reads, begun } = readsThatTake(100);
  const asked = Promise.all([1, 2, 3].map(() => reads.forceFetch('gala')));
  await pass(100);
  expect(await asked).toEqual([1, 1, 1]);
  expect(begun()).toBe(1);
});

test('a failed read fails for all callers that wait, and is not cached', async () => {
  let isDown = true;
  const reads = readThroughCache<string, string>(() =>
    isDown ? Promise.reject(new Error('down')) : Promise.resolve('up'),
  );
  await expect(reads.forceFetch('gala')).rejects.toThrow('down');
  isDown = false;
  expect(await reads.forceFetch('gala')).toBe('up');
});

test('every caller is answered, and at most the last 10,000 values are cached', async () => {
  const { reads } = readsThatTake(100);
  const asked = Array.from({ length: 10_100 }, (_, index) => reads.forceFetch(String(index)));
  await pass(100);
  expect(await Promise.all(asked)).toEqual(asked.map((_, index) => index + 1));
  expect(reads.size).toBe(10_000);
});
