import { expect, test } from 'vitest';
import { ManualClock, settle } from '../../../test/harness/manual-clock.ts';
import { sleep, systemClock } from './clock.ts';
import { withDeadline } from './deadline.ts';
import { retry } from './retry.ts';

test('timers of the process fire in order, and not after they are cleared', async () => {
  const fired: string[] = [];
  const cleared = systemClock.setTimeout(() => fired.push('cleared'), 1);
  const done = new Promise<void>((resolve) => {
    systemClock.setTimeout(() => fired.push('first'), 2);
    systemClock.setTimeout(resolve, 5);
  });
  systemClock.clearTimeout(cleared);
  systemClock.clearTimeout(undefined);
  await done;
  expect(fired).toEqual(['first']);
});

test('the clock of the process is used by default', async () => {
  let attempts = 0;
  const work = () => ((attempts += 1) === 2 ? Promise.resolve('done') : Promise.reject(new Error('no luck')));
  expect(await retry(work, { delayMs: 1 })).toBe('done');
  expect(await withDeadline(new Promise<never>(() => {}), 1, () => 'late')).toBe('late');
});

test('a sleep ends at its time, or at an abort, and leaves no timer behind', async () => {
  const clock = new ManualClock();
  const ended: string[] = [];
  const stopping = new AbortController();
  void sleep(clock, 100).then(() => ended.push('slept'));
  void sleep(clock, 100, stopping.signal).then(() => ended.push('woken'));
  await clock.advance(99);
  expect(ended).toEqual([]);
  stopping.abort();
  await settle();
  expect(ended).toEqual(['woken']);
  await clock.advance(1);
  expect([ended, clock.pending]).toEqual([['woken', 'slept'], 0]);
  await sleep(clock, 100, stopping.signal);
});
