import { expect, onTestFinished, test, vi } from 'vitest';
import type { Logger } from './log.ts';
import { isHanging, startPeriodicTasks, type PeriodicTask } from './periodic-tasks.ts';

const AN_HOUR_MS = 3_600_000;

/** Starts tasks with a log that keeps its entries. */
function start(...tasks: PeriodicTask[]) {
  const logged: object[] = [];
  const log = { warn: (facts: object) => void logged.push(facts) } as unknown as Logger;
  const started = startPeriodicTasks(tasks, log);
  onTestFinished(() => started.stop());
  return { started, logged };
}

test('a task that keeps failing is logged at most once per second, and does not hide another', async () => {
  let failures = 0;
  const failing = (name: string) => ({
    name,
    intervalMs: 1,
    run: () => {
      failures += 1;
      return Promise.reject(new Error(name));
    },
  });
  const { logged } = start(failing('one'), failing('other'));
  await vi.waitUntil(() => failures > logged.length + 6, { interval: 1 });
  expect(logged.slice(0, 2)).toEqual([
    { err: new Error('one'), task: 'one', unlogged: 0 },
    { err: new Error('other'), task: 'other', unlogged: 0 },
  ]);
});

test('a run that does not end counts as hanging after its interval and the allowed time', async () => {
  const never = new Promise<never>(() => {});
  const idle = { name: 'idle', intervalMs: AN_HOUR_MS, run: () => Promise.resolve('done' as const) };
  const { started } = start(idle);
  // A stop would wait for the run forever.
  const stuck = startPeriodicTasks([{ name: 'stuck', intervalMs: 10, run: () => never }], {} as Logger);
  await vi.waitUntil(() => stuck.progress()['stuck']!.sinceLastMs > 20, { interval: 1 });
  expect(stuck.progress()['stuck']).toMatchObject({ intervalMs: 10 });
  expect([isHanging(stuck.progress(), 10), isHanging(stuck.progress(), AN_HOUR_MS)]).toEqual([true, false]);
  expect(isHanging(started.progress(), 10)).toBe(false);
});
