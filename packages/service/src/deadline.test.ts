import { expect, test } from 'vitest';
import { withDeadline } from './retry.ts';

const AN_HOUR_MS = 3_600_000;
const never = new Promise<never>(() => {});

test('a promise that settles in time decides the result', async () => {
  expect(await withDeadline(Promise.resolve('done'), AN_HOUR_MS, () => 'late')).toBe('done');
  const failing = withDeadline(Promise.reject(new Error('failed')), AN_HOUR_MS, () => 'late');
  await expect(failing).rejects.toThrow('failed');
});

test('after the deadline, `late` returns a value or throws', async () => {
  expect(await withDeadline(never, 1, () => 'late')).toBe('late');
  const failing = withDeadline(never, 1, () => {
    throw new Error('no answer');
  });
  await expect(failing).rejects.toThrow('no answer');
});

test('no timer is left behind', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  await withDeadline(Promise.resolve(), AN_HOUR_MS, () => {});
  expect(timers()).toBe(before);
});
