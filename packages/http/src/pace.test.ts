import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createPace } from './pace.ts';

/** Returns how many answers were given, and a function that asks for more. */
function startPace() {
  const clock = new ManualClock();
  const pace = createPace(clock);
  const given: number[] = [];
  const ask = (count: number) => {
    for (let number = 0; number < count; number += 1) pace(() => void given.push(number));
  };
  return { clock, given, ask };
}

test('answers are immediate up to the burst, and then given in order at the pace', async () => {
  const { clock, given, ask } = startPace();
  ask(700);
  expect(given.length).toBe(200);
  await clock.advance(100);
  expect(given.length).toBe(300);
  await clock.advance(400);
  expect(given).toEqual(Array.from({ length: 700 }, (_, number) => number));
  expect(clock.pending).toBe(0);
});

test('an answer that comes while others wait does not pass them', async () => {
  const { clock, given, ask } = startPace();
  ask(205);
  await clock.advance(9);
  ask(1);
  expect(given.length).toBe(200);
  await clock.advance(1);
  expect(given.slice(200)).toEqual([200, 201, 202, 203, 204, 0]);
});

test('a process that stood still does not catch up in one turn', async () => {
  const { clock, given, ask } = startPace();
  ask(1_000);
  clock.block(5_000);
  expect(given.length).toBe(210);
});

test('answers beyond those that may wait are given immediately', () => {
  const { given, ask } = startPace();
  ask(200 + 2_000);
  expect(given.length).toBe(200);
  ask(3);
  expect(given.length).toBe(203);
});
