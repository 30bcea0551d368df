import { beforeEach, expect, test } from 'vitest';
import { ManualClock, settle } from '../../../test/harness/manual-clock.ts';
import { repeat, type TaskResult } from './repeat.ts';

let clock: ManualClock;
beforeEach(() => void (clock = new ManualClock()));

/** Runs that the test ends, with a result of its choice. */
function start(intervalMs: number) {
  const runs: PromiseWithResolvers<TaskResult>[] = [];
  const errors: string[] = [];
  const run = () => {
    const next = Promise.withResolvers<TaskResult>();
    runs.push(next);
    return next.promise;
  };
  const repetition = repeat(run, intervalMs, ({ message }) => errors.push(message), clock);
  /** Ends the current run. */
  const end = async (result: TaskResult) => {
    runs.at(-1)!.resolve(result);
    await settle();
  };
  return { repetition, runs, errors, end };
}

test('a pause of one interval follows a run that has done everything', async () => {
  const { runs, end } = start(1_000);
  expect(runs).toHaveLength(1);
  await end('done');
  await clock.advance(999);
  expect(runs).toHaveLength(1);
  await clock.advance(1);
  expect(runs).toHaveLength(2);
});

test('a stop does not wait for the end of the pause, and no run follows', async () => {
  const { repetition, runs, end } = start(1_000);
  await end('done');
  await repetition.stop();
  expect(clock.pending).toBe(0);
  await clock.advance(10_000);
  expect(runs).toHaveLength(1);
});

test('no pause follows a run that has left work', async () => {
  const { runs, end } = start(1_000);
  await end('more');
  expect(runs).toHaveLength(2);
});

test('each idle run lengthens the pause, up to eight intervals', async () => {
  const { repetition, runs, end } = start(1_000);
  const pauses: number[] = [];
  const endAndPause = async (result: TaskResult) => {
    await end(result);
    const { intervalMs } = repetition.progress();
    const before = runs.length;
    // The reported pause is rounded.
    await clock.advance(intervalMs - 1);
    expect(runs).toHaveLength(before);
    await clock.advance(2);
    expect(runs).toHaveLength(before + 1);
    pauses.push(intervalMs);
  };
  for (let run = 0; run < 30; run += 1) await endAndPause('idle');
  expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
  expect([pauses[0], pauses.at(-1)]).toEqual([1_100, 8_000]);
  await endAndPause('done');
  expect(pauses.at(-1)).toBe(1_000);
});

test('a failed run is reported, and the next run follows after the pause', async () => {
  const { runs, errors } = start(1_000);
  runs[0]!.reject(new Error('no luck'));
  await settle();
  expect([errors, runs.length]).toEqual([['no luck'], 1]);
  await clock.advance(1_000);
  expect(runs).toHaveLength(2);
});

test('a stop waits for the current run and prevents another', async () => {
  const { repetition, runs, end } = start(1_000);
  let isStopped = false;
  const stopped = repetition.stop().then(() => (isStopped = true));
  await settle();
  expect(isStopped).toBe(false);
  await end('more');
  await stopped;
  expect(runs).toHaveLength(1);
});

test('the time since the last run grows while a run hangs, and restarts when the run fails', async () => {
  const { repetition, runs } = start(1_000);
  const sinceLastMs = () => repetition.progress().sinceLastMs;
  await clock.advance(5_000);
  expect(sinceLastMs()).toBe(5_000);
  runs[0]!.reject(new Error('no luck'));
  await settle();
  expect(sinceLastMs()).toBe(0);
  await clock.advance(300);
  expect(sinceLastMs()).toBe(300);
});
