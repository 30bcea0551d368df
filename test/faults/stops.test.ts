import { expect, test } from 'vitest';
import { hasKeptUp } from './stops.ts';

const STARTED_AT = 1_000_000;
const stop = (from: number, to: number) => ({ from: STARTED_AT + from, to: STARTED_AT + to });
const during = { api: 1, from: 10_000, to: 10_100 };

const keptUp = (suite: ReturnType<typeof stop>[], apis: ReturnType<typeof stop>[][]) =>
  hasKeptUp(during, STARTED_AT, { suite, apis });

test('a machine that never stood still has kept up', () => {
  expect(keptUp([], [[], []])).toBe(true);
});

test('a stop of the suite, or of the API that was called, during the call or shortly before', () => {
  expect(keptUp([stop(10_050, 10_400)], [[], []])).toBe(false);
  expect(keptUp([], [[], [stop(6_000, 6_500)]])).toBe(false);
});

test('stops of another API, long before, or afterwards say nothing', () => {
  expect(keptUp([], [[stop(10_050, 10_400)], []])).toBe(true);
  expect(keptUp([stop(1_000, 2_000)], [[], []])).toBe(true);
  expect(keptUp([stop(10_101, 12_000)], [[], []])).toBe(true);
});
