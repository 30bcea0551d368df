import { expect, test } from 'vitest';
import { Random } from '../faults/random.ts';
import {
  checkCounter,
  checkRelaxed,
  type CounterHistory,
  type Operation,
  type Reading,
} from './bounded-counter.ts';

// The search is compared with one that tries every order.

const CAPACITY = 3;
const CASES = 2_000;
const SEED = 20_261_127;
const LATEST = 12;

type Step = Operation | Reading;

const drawSpan = (random: Random, from = 0) => {
  const start = random.between(from, LATEST);
  return { start, end: random.chance(20) ? Infinity : start + random.between(0, 6) };
};

/** Grants of one or two seats, releases of some of them, and readings. */
function draw(random: Random): CounterHistory {
  const operations: Operation[] = [];
  for (let line = 0; line < random.between(2, 4); line += 1) {
    const amount = random.between(1, 2);
    const grant = { line, amount, ...drawSpan(random) };
    operations.push(grant);
    // Sometimes before the answer of the grant.
    const from = random.chance(70) && grant.end < LATEST ? grant.end : grant.start;
    if (random.chance(60))
      operations.push({ line: line + 10, amount: -amount, after: grant, ...drawSpan(random, from) });
  }
  const readings = Array.from({ length: random.between(0, 2) }, (_, index) => {
    const { start, end } = drawSpan(random);
    return {
      line: index + 20,
      start,
      end: Math.min(end, start + 6),
      atLeast: random.between(CAPACITY - 1, CAPACITY),
    };
  });
  return { operations, readings, capacityAt: () => CAPACITY };
}

/** Whether one of all orders is valid. */
function hasOrder({ operations, readings }: CounterHistory): boolean {
  const next = (left: readonly Step[], made: ReadonlySet<Step>, value: number): boolean =>
    left.length === 0 ||
    left.some((step) => {
      if (left.some((other) => other.end < step.start)) return false;
      const rest = left.filter((other) => other !== step);
      if ('atLeast' in step) return value >= step.atLeast && next(rest, made, value);
      const after = value + step.amount;
      const isPossible = after >= 0 && after <= CAPACITY && (!step.after || made.has(step.after));
      return isPossible && next(rest, new Set([...made, step]), after);
    });
  return next([...operations, ...readings], new Set(), 0);
}

test('refuses a history if and only if no order of its calls is valid', () => {
  const random = new Random(SEED);
  const counts = { ok: 0, refused: 0 };
  for (let index = 0; index < CASES; index += 1) {
    const history = draw(random);
    const expected = hasOrder(history) ? 'ok' : 'refused';
    expect(checkCounter(history), JSON.stringify(history)).toMatchObject({ kind: expected });
    counts[expected] += 1;
    // The relaxed search misses some, and refuses nothing that is valid.
    if (expected === 'ok') expect(checkRelaxed(history)).toMatchObject({ kind: 'ok' });
  }
  // Both are drawn often.
  expect(Math.min(counts.ok, counts.refused)).toBeGreaterThan(CASES / 5);
});

test('says so when too many orders are possible', () => {
  const operations = Array.from({ length: 40 }, (_, line) => ({
    line,
    start: 0,
    end: 10 + line,
    amount: 1 + line,
  }));
  const reading = { line: 99, start: 5, end: 6, atLeast: 1_000 };
  const history = { operations, readings: [reading], capacityAt: () => 1_000 };
  expect(checkCounter(history)).toMatchObject({ kind: 'undecided' });
});
