import { expect, test, vi } from 'vitest';
import { repeat, type TaskResult } from './periodic-tasks.ts';

const AN_HOUR_MS = 3_600_000;

/** Waits until everything has happened that needs no timer. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Runs that the test ends, with a result of its choice. */
function start(intervalMs: number) {
  const runs: PromiseWithResolvers<TaskResult>[] = [];
  const errors: string[] = [];
  const run = () => {
    const next = Promise.withResolvers<TaskResult>();
    runs.push(next);
    return next.promise;
  };
  const repetition = repeat(run, intervalMs, ({ message }) => errors.push(message));
  const untilRun = (nth: number) => vi.waitUntil(() => runs.length === nth, { interval: 1 });
  return { repetition, runs, errors, untilRun };
}

test('a pause follows a run that has done everything', async () => {
  const { repetition, runs } = start(AN_HOUR_MS);
  expect(runs).toHaveLength(1);
  runs[0]!.resolve('done');
  await nextTurn();
  expect(runs).toHaveLength(1);
  // A stop does not wait for the end of the pause.
  await repetition.stop();
  expect(runs).toHaveLength(1);
});

test('no pause follows a run that has left work', async () => {
  const { repetition, runs, untilRun } = start(AN_HOUR_MS);
  runs[0]!.resolve('more');
  await untilRun(2);
  runs[1]!.resolve('done');
  await repetition.stop();
});

test('each idle run lengthens the pause, up to eight intervals', async () => {
  const { repetition, runs, untilRun } = start(5);
  const pauses: number[] = [];
  const end = async (result: TaskResult) => {
    runs.at(-1)!.resolve(result);
    await untilRun(runs.length + 1);
    pauses.push(repetition.progress().intervalMs);
  };
  for (let run = 0; run < 30; run += 1) await end('idle');
  expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
  expect([pauses[0]! > 5, pauses.at(-1)]).toEqual([true, 40]);
  await end('done');
  expect(pauses.at(-1)).toBe(5);
  runs.at(-1)!.resolve('done');
  await repetition.stop();
});

test('a failed run is reported, and the next run follows', async () => {
  const { repetition, runs, errors, untilRun } = start(1);
  runs[0]!.reject(new Error('no luck'));
  await untilRun(2);
  expect(errors).toEqual(['no luck']);
  runs[1]!.resolve('done');
  await repetition.stop();
});

test('a stop waits for the current run and prevents another', async () => {
  const { repetition, runs } = start(1);
  let isStopped = false;
  const stopped = repetition.stop().then(() => (isStopped = true));
  await nextTurn();
  expect(isStopped).toBe(false);
  runs[0]!.resolve('more');
  await stopped;
  expect(runs).toHaveLength(1);
});

test('the time since the last run grows while a run hangs, and restarts when the run fails', async () => {
  const { repetition, runs } = start(AN_HOUR_MS);
  await vi.waitUntil(() => repetition.progress().sinceLastMs > 20, { interval: 1 });
  runs[0]!.reject(new Error('no luck'));
  const failedAt = performance.now();
  const sinceFailure = () => performance.now() - failedAt;
  await vi.waitUntil(() => repetition.progress().sinceLastMs <= sinceFailure(), { interval: 1 });
  await repetition.stop();
});
