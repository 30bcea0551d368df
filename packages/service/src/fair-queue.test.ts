import { beforeEach, expect, test } from 'vitest';
import { ManualClock, settle } from '../../../test/harness/manual-clock.ts';
import { createFairQueue, QueueFull } from './fair-queue.ts';

let clock: ManualClock;
beforeEach(() => void (clock = new ManualClock()));

const OPTIONS = { patienceMs: 500, answerWithinMs: 3_000, waitingLimit: 100, timeoutAppliesToRunning: true };

/** A queue of work that ends when the test ends it. The name of a piece of work is its partner and a number: a1. */
function createHeldQueue(options: Partial<typeof OPTIONS> = {}) {
  const run = createFairQueue({ ...OPTIONS, ...options, clock });
  const started: string[] = [];
  const outcomes: string[] = [];
  const left = new Set<string>();
  const ends = new Map<string, () => void>();
  const ask = (...names: string[]) => {
    for (const name of names) {
      const work = () => {
        started.push(name);
        return new Promise<void>((end) => ends.set(name, end));
      };
      run(name.charCodeAt(0), () => !left.has(name), work).then(
        () => outcomes.push(`${name} done`),
        (error: unknown) => outcomes.push(`${name} ${error instanceof QueueFull ? 'refused' : 'failed'}`),
      );
    }
  };
  const end = (name: string) => {
    ends.get(name)!();
    return settle();
  };
  return { ask, end, started, outcomes, left };
}

test('one piece of work runs at a time, and waiting partners are served in rotation', async () => {
  const { ask, end, started, outcomes } = createHeldQueue();
  ask('a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1');
  const order = ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'];
  for (const [index, name] of order.entries()) {
    expect(started).toEqual(order.slice(0, index + 1));
    await end(name);
  }
  expect(outcomes).toEqual(order.map((name) => `${name} done`));
});

test('after the time limit a caller is refused, whether its work has started or not, and waiting work never starts', async () => {
  const { ask, end, started, outcomes } = createHeldQueue({ patienceMs: 10_000 });
  ask('a1', 'a2', 'b1');
  await clock.advance(2_999);
  expect(outcomes).toEqual([]);
  await clock.advance(1);
  expect(outcomes).toEqual(['a1 refused', 'a2 refused', 'b1 refused']);
  ask('c1');
  await end('a1');
  expect(started).toEqual(['a1', 'c1']);
});

test('a caller waits for a change that has started, but not for one that has not', async () => {
  const { ask, end, started, outcomes } = createHeldQueue({
    patienceMs: 10_000,
    timeoutAppliesToRunning: false,
  });
  ask('a1', 'a2');
  await clock.advance(3_000);
  expect(outcomes).toEqual(['a2 refused']);
  await end('a1');
  expect([started, outcomes]).toEqual([['a1'], ['a2 refused', 'a1 done']]);
});

test('requests above the limit of one partner are refused immediately, and those of others are not', async () => {
  const { ask, outcomes } = createHeldQueue({ waitingLimit: 2 });
  ask('a1', 'a2', 'a3', 'a4', 'b1');
  await settle();
  expect(outcomes).toEqual(['a4 refused']);
});

test('work whose caller has left is skipped', async () => {
  const { ask, end, started, left } = createHeldQueue();
  ask('a1', 'a2', 'a3', 'a4', 'b1', 'b2');
  for (const name of ['a2', 'a3', 'b1', 'b2']) left.add(name);
  await end('a1');
  expect(started).toEqual(['a1', 'a4']);
  await end('a4');
  ask('c1');
  expect(started).toEqual(['a1', 'a4', 'c1']);
});

test('work that takes longer than the patience does not delay other work', async () => {
  const { ask, started } = createHeldQueue();
  ask('a1', 'a2', 'a3');
  await clock.advance(500);
  expect(started).toEqual(['a1', 'a2']);
});

test('after failed work the next work starts', async () => {
  const run = createFairQueue({ ...OPTIONS, clock });
  const wanted = () => true;
  const failed = run(1, wanted, () => Promise.reject(new Error('no luck')));
  const next = run(1, wanted, () => Promise.resolve('done'));
  await expect(failed).rejects.toThrow('no luck');
  expect(await next).toBe('done');
});
