import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createQueueNotifier } from './queue-notifier.ts';

// The clock is the one thing here that is not real: what is promised is about time.
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function recordedNotifier() {
  const rings: string[][] = [];
  return { rings, notifier: createQueueNotifier(({ batchIds }) => rings.push(batchIds), 25) };
}

test('after a quiet time a batch is told of at once', () => {
  const { rings, notifier } = recordedNotifier();
  notifier.notify('a', 0);
  expect(rings).toEqual([['a']]);
  vi.advanceTimersByTime(25);
  notifier.notify('b', 0);
  expect(rings).toEqual([['a'], ['b']]);
});

test('what commits within the interval is told of together, when it ends', () => {
  const { rings, notifier } = recordedNotifier();
  for (const batchId of ['a', 'b', 'c']) notifier.notify(batchId, 0);
  vi.advanceTimersByTime(24);
  expect(rings).toEqual([['a']]);
  vi.advanceTimersByTime(1);
  expect(rings).toEqual([['a'], ['b', 'c']]);
});

test('a job speaks of at most 500 batches', () => {
  const { rings, notifier } = recordedNotifier();
  for (let index = 0; index <= 1_001; index++) notifier.notify(String(index), 0);
  notifier.flush();
  expect(rings.map((ring) => ring.length)).toEqual([1, 500, 500, 1]);
});

test('flush tells of what was held back, once', () => {
  const { rings, notifier } = recordedNotifier();
  notifier.notify('a', 0);
  notifier.notify('b', 0);
  notifier.flush();
  notifier.flush();
  vi.advanceTimersByTime(100);
  expect(rings).toEqual([['a'], ['b']]);
});

test('batches of different shards are told of apart', () => {
  const jobs: unknown[] = [];
  const notifier = createQueueNotifier((batches) => jobs.push(batches), 25);
  notifier.notify('first', 0);
  for (const [batchId, shardId] of [
    ['a', 0],
    ['b', 7],
    ['c', 0],
  ] as const)
    notifier.notify(batchId, shardId);
  notifier.flush();
  expect(jobs.slice(1)).toEqual([
    { shardId: 0, batchIds: ['a', 'c'] },
    { shardId: 7, batchIds: ['b'] },
  ]);
});
