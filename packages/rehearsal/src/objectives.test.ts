import { expect, test } from 'vitest';
import type { RequestLog } from './load/load.ts';
import { adviceOf, figuresOf, judge } from './objectives.ts';

/** Requests as [ms until the answer, code, pass reference]. They arrive one after the other. */
const logOf = (...requests: [number, string, string?][]): RequestLog => ({
  startedAt: 0,
  dueAt: Float64Array.from(requests, (_, number) => number),
  sentAt: Float64Array.from(requests, (_, number) => number),
  answeredAt: Float64Array.from(requests, ([ms], number) => number + ms),
  code: requests.map(([, code]) => code),
  detail: requests.map(([, , reference = '']) => reference),
});

const judged = (log: RequestLog) => judge(figuresOf(log, 0));
const missed = (log: RequestLog) => judged(log).flatMap(({ name, isMet }) => (isMet ? [] : [name]));
const sold = (count: number, ms = 10): [number, string, string][] =>
  Array.from({ length: count }, (_, number) => [ms, '00', `GALA-${number}`]);

test('a quick sale meets every objective, sold out or not', () => {
  expect(
    missed(logOf(...sold(90), ...Array.from({ length: 10 }, (): [number, string] => [5, '32']))),
  ).toEqual([]);
});

test('times count from the arrival, for the share that a marketplace names', () => {
  expect(missed(logOf(...sold(98), [1_001, '00', 'a'], [1_001, '00', 'b']))).toEqual([
    'Expedia: p99 of a sale',
  ]);
  expect(
    missed(
      logOf(
        ...sold(89),
        ...sold(11, 3_001).map(([ms, code]): [number, string, string] => [ms, code, `${Math.random()}`]),
      ),
    ),
  ).toEqual(['Viator: p90 of a reservation', 'GetYourGuide: p95 of a reservation', 'Expedia: p99 of a sale']);
});

test('a failure is an answer that the rules of the sale do not explain, or none', () => {
  const regular = sold(997);
  expect(missed(logOf(...regular, [5, '90'], [5, '91'], [Number.NaN, 'cut']))).toEqual([
    'Viator: not available',
  ]);
  expect(figuresOf(logOf([5, '90'], [1, 'cut'], [Number.NaN, 'none']), 0)).toMatchObject({
    offered: 3,
    answered: 1,
    codes: { '90': 1, cut: 1, none: 1 },
    p50: 5,
  });
});

test('without an answer, no objective about times is met', () => {
  expect(missed(logOf([Number.NaN, 'none']))).toHaveLength(5);
});

test('a pass reference that comes twice is a seat that was sold twice', () => {
  expect(missed(logOf([5, '00', 'GALA-1'], [5, '00', 'GALA-1'], [5, '32'], [5, '32']))).toEqual([
    'Seats sold twice',
  ]);
});

test('the advice names the part that is at its limit', () => {
  const figures = figuresOf(logOf([5_000, '00', 'a']), 0);
  const of = (apiCores: number[], oldestPendingSeconds: number | null = null) =>
    adviceOf(figures, judge(figures), { apiCores, oldestPendingSeconds }).join(' ');
  expect(of([])).toContain('Give --metrics');
  expect(of([0.95, 0.97])).toContain('2 API processes are at their limit');
  expect(of([0.95, 0.1])).toContain('spreads the requests unevenly');
  expect(of([0.4])).toContain('Postgres, its disk, the proxy or the network');
  expect(of([0.4], 30)).toContain('add worker processes');
  const met = figuresOf(logOf([5, '00', 'a']), 80);
  expect(adviceOf(met, judge(met), { apiCores: [], oldestPendingSeconds: null })).toEqual([
    expect.stringContaining('The generator was late'),
    expect.stringContaining('All objectives are met'),
  ]);
});
