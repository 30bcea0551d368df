import { expect, test, vi } from 'vitest';
import { repeat, withDeadline } from './timing.ts';

const AN_HOUR_MS = 3_600_000;
const never = new Promise<never>(() => {});

test('what is in time is as the promise has it', async () => {
  expect(await withDeadline(Promise.resolve('done'), AN_HOUR_MS, () => 'late')).toBe('done');
  const failing = withDeadline(Promise.reject(new Error('failed')), AN_HOUR_MS, () => 'late');
  await expect(failing).rejects.toThrow('failed');
});

test('what is late is told by a value, or by an error', async () => {
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

/** By then everything has happened that waits for no timer. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Rounds that end when the test says so, and how. */
function start(intervalMs: number) {
  const rounds: PromiseWithResolvers<'more' | 'done'>[] = [];
  const errors: string[] = [];
  const round = () => {
    const next = Promise.withResolvers<'more' | 'done'>();
    rounds.push(next);
    return next.promise;
  };
  const repetition = repeat(round, intervalMs, ({ message }) => errors.push(message));
  const untilRound = (nth: number) => vi.waitUntil(() => rounds.length === nth, { interval: 1 });
  return { repetition, rounds, errors, untilRound };
}

test('after a round that has done everything there is a pause', async () => {
  const { repetition, rounds } = start(AN_HOUR_MS);
  expect(rounds).toHaveLength(1);
  rounds[0]!.resolve('done');
  await nextTurn();
  expect(rounds).toHaveLength(1);
  // Which is no reason to wait for its end.
  await repetition.stop();
  expect(rounds).toHaveLength(1);
});

test('after a round with more to do there is none', async () => {
  const { repetition, rounds, untilRound } = start(AN_HOUR_MS);
  rounds[0]!.resolve('more');
  await untilRound(2);
  rounds[1]!.resolve('done');
  await repetition.stop();
});

test('a round that fails is told of, and does not end the repetition', async () => {
  const { repetition, rounds, errors, untilRound } = start(1);
  rounds[0]!.reject(new Error('no luck'));
  await untilRound(2);
  expect(errors).toEqual(['no luck']);
  rounds[1]!.resolve('done');
  await repetition.stop();
});

test('a stop waits for the round under way, and no other begins', async () => {
  const { repetition, rounds } = start(1);
  let isStopped = false;
  const stopped = repetition.stop().then(() => (isStopped = true));
  await nextTurn();
  expect(isStopped).toBe(false);
  rounds[0]!.resolve('more');
  await stopped;
  expect(rounds).toHaveLength(1);
});

test('the time since the last round grows while a round hangs, and begins anew when it fails', async () => {
  const { repetition, rounds } = start(AN_HOUR_MS);
  await vi.waitUntil(() => repetition.sinceLastRoundMs() > 20, { interval: 1 });
  rounds[0]!.reject(new Error('no luck'));
  const failedAt = performance.now();
  await vi.waitUntil(() => repetition.sinceLastRoundMs() <= performance.now() - failedAt, { interval: 1 });
  await repetition.stop();
});
