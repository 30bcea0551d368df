import { beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { isHanging, startPeriodicTasks, type PeriodicTask } from './periodic-tasks.ts';

let clock: ManualClock;
beforeEach(() => void (clock = new ManualClock()));

/** Starts tasks with a log that keeps its entries. */
function start(...tasks: PeriodicTask[]) {
  const logged: (object | string)[] = [];
  const log = { warn: (facts: object | string) => void logged.push(facts) };
  return { tasks: startPeriodicTasks(tasks, log, clock), logged };
}

test('a task that keeps failing is logged at most once per second, and does not hide another', async () => {
  const failing = (name: string) => ({
    name,
    intervalMs: 100,
    run: () => Promise.reject(new Error(name)),
  });
  const { logged } = start(failing('one'), failing('other'));
  await clock.advance(999);
  expect(logged).toEqual([
    { err: new Error('one'), task: 'one', unlogged: 0 },
    { err: new Error('other'), task: 'other', unlogged: 0 },
  ]);
  await clock.advance(1);
  expect(logged.slice(2)).toEqual([
    { err: new Error('one'), task: 'one', unlogged: 9 },
    { err: new Error('other'), task: 'other', unlogged: 9 },
  ]);
});

test('a run that does not end counts as hanging after its interval and the allowed time', async () => {
  const never = new Promise<never>(() => {});
  const { tasks: stuck } = start({ name: 'stuck', intervalMs: 1_000, run: () => never });
  const { tasks: busy } = start({ name: 'busy', intervalMs: 1_000, run: () => Promise.resolve('done') });
  await clock.advance(1_500);
  expect([isHanging(stuck.progress(), 500), isHanging(busy.progress(), 500)]).toEqual([false, false]);
  await clock.advance(1);
  expect([isHanging(stuck.progress(), 500), isHanging(busy.progress(), 500)]).toEqual([true, false]);
  expect(stuck.progress()['stuck']).toEqual({ sinceLastMs: 1_501, intervalMs: 1_000 });
});
