import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createTurns } from './turns.ts';

// The clock is the one thing here that is not real: what is promised is about time.
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Takes a turn. Says when it has come, or that it did not, and how it is ended. */
function taker(take: ReturnType<typeof createTurns>, shardId = 0) {
  const taken = { state: 'waiting', end: () => {} };
  const come = async () => {
    const end = await take(shardId);
    taken.state = end ? 'has it' : 'sent away';
    taken.end = end ?? taken.end;
  };
  void come();
  return taken;
}

const settle = () => vi.advanceTimersByTimeAsync(0);

test('one after the other in a shard, in order, and nobody waits for another shard', async () => {
  const take = createTurns(500);
  const [first, second, third, other] = [taker(take), taker(take), taker(take), taker(take, 7)];
  await settle();
  expect([first, second, third, other].map(({ state }) => state)).toEqual([
    'has it',
    'waiting',
    'waiting',
    'has it',
  ]);
  first.end();
  await settle();
  expect([second.state, third.state]).toEqual(['has it', 'waiting']);
  second.end();
  await settle();
  expect(third.state).toBe('has it');
});

test('nobody waits for a turn that takes too long, and it can be taken again when it has ended', async () => {
  const take = createTurns(500);
  const [slow, early] = [taker(take), taker(take)];
  await vi.advanceTimersByTimeAsync(499);
  expect(early.state).toBe('waiting');
  await vi.advanceTimersByTimeAsync(1);
  const late = taker(take);
  await settle();
  expect([slow.state, early.state, late.state]).toEqual(['has it', 'sent away', 'sent away']);
  slow.end();
  const next = taker(take);
  await settle();
  expect(next.state).toBe('has it');
});

test('who waits behind several is as patient with each', async () => {
  const take = createTurns(500);
  const [first, second, third] = [taker(take), taker(take), taker(take)];
  await vi.advanceTimersByTimeAsync(400);
  first.end();
  await vi.advanceTimersByTimeAsync(400);
  second.end();
  await settle();
  expect(third.state).toBe('has it');
});
