import { expect, test } from 'vitest';
import type { Run } from '../results.ts';
import { compareCheckouts, judgeCheckouts } from './compare-checkouts.ts';

const run = (differing: Partial<Run>): Run => ({
  contender: 'before',
  workload: 'hot ticket',
  connections: 128,
  round: 1,
  seconds: 5,
  accepted: 50_000,
  refused: {},
  acceptedPerSecond: 10_000,
  latencyMs: { p50: 10, p90: 15, p99: 20, max: 40 },
  cpuMicros: { api: 100, worker: 10, postgres: 20, redis: 1 },
  ...differing,
});
const pair = (after: Partial<Run>, before: Partial<Run> = {}) => ({
  floodgate: run({ contender: 'after', ...after }),
  other: run(before),
});

test('each figure is after ÷ before, within a pair', () => {
  const [compared] = compareCheckouts([
    pair({ acceptedPerSecond: 9_000 }, { acceptedPerSecond: 10_000 }),
    pair({ acceptedPerSecond: 6_000 }, { acceptedPerSecond: 5_000 }),
    pair(
      { acceptedPerSecond: 8_000, latencyMs: { p50: 5, p90: 9, p99: 40, max: 90 } },
      { acceptedPerSecond: 8_000 },
    ),
  ]);
  expect(compared).toMatchObject({
    workload: 'hot ticket',
    pairs: 3,
    rate: { median: 1, min: 0.9, max: 1.2 },
  });
  expect(compared).toMatchObject({ p50: { median: 1, min: 0.5 }, p99: { median: 1, max: 2 } });
});

test('CPU is compared by part, where a part took enough of it to be compared', () => {
  const [compared] = compareCheckouts([
    pair({ cpuMicros: { api: 150, worker: 12, postgres: 1 } }),
    pair({ cpuMicros: { api: 50, worker: 8, postgres: 40 } }),
  ]);
  expect(compared!.cpu).toEqual({
    api: { median: 1, min: 0.5, max: 1.5 },
    worker: { median: 1, min: 0.8, max: 1.2 },
  });
});

test('a pair with a run that does not count is left out; workloads are told apart', () => {
  const compared = compareCheckouts([
    pair({ acceptedPerSecond: 1, discarded: 'oversold' }),
    pair({}),
    pair({ workload: 'mix' }, { workload: 'mix' }),
  ]);
  expect(compared.map(({ workload, pairs }) => [workload, pairs])).toEqual([
    ['hot ticket', 1],
    ['mix', 1],
  ]);
  expect(compared[0]!.rate.median).toBe(1);
});

test('a rate may fall by three in a hundred', () => {
  const rates = [9_700, 9_690].map((acceptedPerSecond) => compareCheckouts([pair({ acceptedPerSecond })]));
  expect(rates.flatMap(judgeCheckouts).map(({ met }) => met)).toEqual([true, false]);
});
