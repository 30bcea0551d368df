import { expect, onTestFinished, test, vi } from 'vitest';
import type { Logger } from './log.ts';
import { isHanging, startRounds } from './rounds.ts';
import type { Round } from './timing.ts';

const AN_HOUR_MS = 3_600_000;

/** Starts rounds with a log that keeps what it is told. */
function start(...rounds: Round[]) {
  const logged: object[] = [];
  const log = { warn: (facts: object) => void logged.push(facts) } as unknown as Logger;
  const started = startRounds(rounds, log);
  onTestFinished(() => started.stop());
  return { started, logged };
}

test('a round that fails again and again is told of once a second at most, and hides no other', async () => {
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

test('a round that does not end hangs once its interval and what it is allowed are over', async () => {
  const never = new Promise<never>(() => {});
  const idle = { name: 'idle', intervalMs: AN_HOUR_MS, run: () => Promise.resolve('done' as const) };
  const { started } = start(idle);
  // Stopped, it would wait for its round for ever.
  const stuck = startRounds([{ name: 'stuck', intervalMs: 10, run: () => never }], {} as Logger);
  await vi.waitUntil(() => stuck.progress()['stuck']!.sinceLastMs > 20, { interval: 1 });
  expect(stuck.progress()['stuck']).toMatchObject({ intervalMs: 10 });
  expect([isHanging(stuck.progress(), 10), isHanging(stuck.progress(), AN_HOUR_MS)]).toEqual([true, false]);
  expect(isHanging(started.progress(), 10)).toBe(false);
});
