import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { QueueFull } from '@floodgate/service/fair-queue';
import { batchLoader } from './batch-loader.ts';

interface Group {
  keys: number[];
  answer(): Promise<void>;
  fail(error: Error): Promise<void>;
}

/** Reads that the test answers. */
function heldReads() {
  const groups: Group[] = [];
  const read = (keys: number[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<string[]>();
    const answer = () => {
      resolve(keys.map(valueOf));
      return yieldToEventLoop();
    };
    const fail = (error: Error) => {
      reject(error);
      return yieldToEventLoop();
    };
    groups.push({ keys, answer, fail });
    return promise;
  };
  return { groups, reads: { read: batchLoader(read) } };
}

const valueOf = (key: number) => `value ${key}`;
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

test('the first key is read at once, and keys requested during that read together in the next', async () => {
  const { groups, reads } = heldReads();
  const values = numbers(4).map((key) => reads.read(key));
  expect(groups.map(({ keys }) => keys)).toEqual([[0]]);
  await groups[0]!.answer();
  expect(await values[0]).toBe('value 0');
  expect(groups.map(({ keys }) => keys)).toEqual([[0], [1, 2, 3]]);
  await groups[1]!.answer();
  expect(await Promise.all(values)).toEqual(numbers(4).map(valueOf));
});

test('only one read runs at a time, with at most 500 keys', async () => {
  const { groups, reads } = heldReads();
  const values = numbers(1_002).map((key) => reads.read(key));
  const sizes = [1, 500, 500, 1];
  for (let count = 1; count <= sizes.length; count++) {
    expect(groups.map(({ keys }) => keys.length)).toEqual(sizes.slice(0, count));
    await groups.at(-1)!.answer();
  }
  expect(await Promise.all(values)).toEqual(numbers(1_002).map(valueOf));
});

test('a failed read is retried once', async () => {
  const { groups, reads } = heldReads();
  const values = numbers(3).map((key) => reads.read(key));
  await groups[0]!.fail(new Error('the connection was lost'));
  expect(groups.map(({ keys }) => keys)).toEqual([[0], [0]]);
  for (const group of [1, 2]) await groups[group]!.answer();
  expect(await Promise.all(values)).toEqual(numbers(3).map(valueOf));
});

test('a read that fails twice fails the waiting keys, and the next key is read again', async () => {
  const { groups, reads } = heldReads();
  const outcomes = Promise.allSettled(numbers(3).map((key) => reads.read(key)));
  const reason = new Error('Postgres is down');
  for (const group of [0, 1]) await groups[group]!.fail(reason);
  expect(await outcomes).toEqual(numbers(3).map(() => ({ status: 'rejected', reason })));
  const value = reads.read(9);
  expect(groups.map(({ keys }) => keys)).toEqual([[0], [0], [9]]);
  await groups[2]!.answer();
  expect(await value).toBe('value 9');
});

test('while 10,000 keys wait, further keys are refused until some are read', async () => {
  const { groups, reads } = heldReads();
  const values = numbers(10_001).map((key) => reads.read(key));
  await expect(reads.read(-1)).rejects.toThrow(QueueFull);
  await groups[0]!.answer();
  values.push(reads.read(-2));
  for (let group = 1; group <= 21; group++) await groups[group]!.answer();
  expect(await Promise.all(values)).toEqual([...numbers(10_001), -2].map(valueOf));
});
