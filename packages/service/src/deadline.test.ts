import { beforeEach, expect, test } from 'vitest';
import { ManualClock, settle } from '../../../test/harness/manual-clock.ts';
import { withDeadline } from './deadline.ts';

const never = new Promise<never>(() => {});

let clock: ManualClock;
beforeEach(() => void (clock = new ManualClock()));

test('a promise that settles in time decides the result', async () => {
  expect(await withDeadline(Promise.resolve('done'), 1_000, () => 'late', clock)).toBe('done');
  const failing = withDeadline(Promise.reject(new Error('failed')), 1_000, () => 'late', clock);
  await expect(failing).rejects.toThrow('failed');
});

test('at the deadline, and not before, `late` returns a value', async () => {
  let result: string | undefined;
  void withDeadline(never, 1_000, () => 'late', clock).then((late) => (result = late));
  await clock.advance(999);
  expect(result).toBeUndefined();
  await clock.advance(1);
  expect(result).toBe('late');
});

test('`late` can throw', async () => {
  const failing = withDeadline(
    never,
    1_000,
    () => {
      throw new Error('no answer');
    },
    clock,
  );
  const failed = expect(failing).rejects.toThrow('no answer');
  await clock.advance(1_000);
  await failed;
});

test('no timer is left behind, and `late` is not called any more', async () => {
  let calls = 0;
  await withDeadline(Promise.resolve(), 1_000, () => (calls += 1), clock);
  await settle();
  expect(clock.pending).toBe(0);
  await clock.advance(1_000);
  expect(calls).toBe(0);
});
