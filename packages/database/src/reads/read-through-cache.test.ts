import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readThroughCache } from './shared-reads.ts';

// The clock is the one thing here that is not real: what is promised is about time. lru-cache keeps the object that it
// reads it from, so its method is replaced, not the object.
let now: number;
beforeEach(() => {
  now = 1_000_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  vi.useFakeTimers({ toFake: ['setTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function pass(durationMs: number): Promise<void> {
  now += durationMs;
  await vi.advanceTimersByTimeAsync(durationMs);
}

/** Reads that each take so long and answer how many have begun. */
function readsThatTake(durationMs: number) {
  let begun = 0;
  const reads = readThroughCache<string, number>(async () => {
    const nth = (begun += 1);
    await new Promise((resolve) => setTimeout(resolve, durationMs));
    return nth;
  });
  const read = async (key = 'gala') => {
    const value = reads.forceFetch(key);
    await pass(durationMs);
    return value;
  };
  return { reads, read, begun: () => begun };
}

test('what was read is at hand for a second, and the next who asks has it read anew', async () => {
  const { reads, read } = readsThatTake(0);
  expect(await read()).toBe(1);
  await pass(990);
  expect(reads.get('gala')).toBe(1);
  await pass(20);
  expect(reads.get('gala')).toBeUndefined();
  expect(await read()).toBe(2);
});

test('the second begins with the reading, not with its end', async () => {
  const { reads, read } = readsThatTake(800);
  expect(await read()).toBe(1);
  await pass(190);
  expect(reads.get('gala')).toBe(1);
  await pass(20);
  expect(reads.get('gala')).toBeUndefined();
});

test.each([1_000, 1_400])('what took %i ms to read is answered, and not kept', async (durationMs) => {
  const { reads, read } = readsThatTake(durationMs);
  expect(await read()).toBe(1);
  await pass(10);
  expect(reads.get('gala')).toBeUndefined();
});

test('all who ask meanwhile wait for one reading', async () => {
  const { reads, begun } = readsThatTake(100);
  const asked = Promise.all([1, 2, 3].map(() => reads.forceFetch('gala')));
  await pass(100);
  expect(await asked).toEqual([1, 1, 1]);
  expect(begun()).toBe(1);
});

test('a reading that fails fails for those who wait, and is not remembered', async () => {
  let isDown = true;
  const reads = readThroughCache<string, string>(() =>
    isDown ? Promise.reject(new Error('down')) : Promise.resolve('up'),
  );
  await expect(reads.forceFetch('gala')).rejects.toThrow('down');
  isDown = false;
  expect(await reads.forceFetch('gala')).toBe('up');
});

test('however much is read, whoever waits is answered, and no more than the last 10,000 are kept', async () => {
  const { reads } = readsThatTake(100);
  const asked = Array.from({ length: 10_100 }, (_, index) => reads.forceFetch(String(index)));
  await pass(100);
  expect(await Promise.all(asked)).toEqual(asked.map((_, index) => index + 1));
  expect(reads.size).toBe(10_000);
});
