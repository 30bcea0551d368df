import { beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../../../../test/harness/manual-clock.ts';
import { createQueueNotifier } from './queue-notifier.ts';

let clock: ManualClock;
beforeEach(() => void (clock = new ManualClock()));

function recordedNotifier() {
  const rings: string[][] = [];
  return {
    rings,
    notifier: createQueueNotifier(async ({ batchIds }) => void rings.push(batchIds), 25, clock),
  };
}

test('after a quiet time a batch is enqueued at once', () => {
  const { rings, notifier } = recordedNotifier();
  notifier.notify(0, 'a');
  expect(rings).toEqual([['a']]);
  clock.block(25);
  notifier.notify(0, 'b');
  expect(rings).toEqual([['a'], ['b']]);
});

test('batches that commit within the interval are enqueued together, when it ends', () => {
  const { rings, notifier } = recordedNotifier();
  for (const batchId of ['a', 'b', 'c']) notifier.notify(0, batchId);
  clock.block(24);
  expect(rings).toEqual([['a']]);
  clock.block(1);
  expect(rings).toEqual([['a'], ['b', 'c']]);
});

test('flush enqueues what was held back, once', () => {
  const { rings, notifier } = recordedNotifier();
  notifier.notify(0, 'a');
  notifier.notify(0, 'b');
  notifier.flush();
  notifier.flush();
  clock.block(100);
  expect(rings).toEqual([['a'], ['b']]);
});

test('batches of different shards are enqueued apart', () => {
  const jobs: unknown[] = [];
  const notifier = createQueueNotifier(async (batches) => void jobs.push(batches), 25, clock);
  notifier.notify(0, 'first');
  for (const [batchId, shardId] of [
    ['a', 0],
    ['b', 7],
    ['c', 0],
  ] as const)
    notifier.notify(shardId, batchId);
  notifier.flush();
  expect(jobs.slice(1)).toEqual([
    { shardId: 0, batchIds: ['a', 'c'] },
    { shardId: 7, batchIds: ['b'] },
  ]);
});
