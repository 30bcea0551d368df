import { expect, test } from 'vitest';
import type { Contender } from '../contenders/contender.ts';
import { Results } from '../report/results.ts';
import type { Run } from './measure.ts';
import type { Entry, Pairing } from './pairing.ts';
import { recordCheckouts, recordPair } from './record.ts';
import { hotTicket, openLoop, type Workload } from './workloads.ts';

const contender = (name: string): Contender => ({
  name,
  start: () => Promise.reject(new Error('not started')),
});

const entry = (row: string, workload: Workload): Entry => ({ row, contender: contender(row), workload });

const pairing = (workload: Workload, mine: string, other: string): Pairing => ({
  title: workload.name,
  mine: entry(mine, workload),
  other: entry(other, workload),
  pairs: 1,
  seconds: 1,
});

const run = (perSecond: number, differing: Partial<Run> = {}): Run => ({
  perSecond,
  answersPerSecond: perSecond,
  latencyMs: { p50: 10, p90: 15, p99: 20, max: 40 },
  finalizedP99Ms: undefined,
  refusedShare: 0,
  cpuMicros: { api: 1_000_000, postgres: 1_000_000 },
  cpuMicrosEach: { api: 100, postgres: 20 },
  generatorMicrosEach: 10,
  residentMiB: { api: 100, worker: 80 },
  databaseBytes: undefined,
  logBytes: undefined,
  ...differing,
});

const roundsOf = (results: Results, row: string, column: string): number[] | undefined =>
  results.figures.find((one) => one.row === row && one.column === column)?.rounds;

test('ratios are those of neighbouring runs, and a run that does not count is in none', () => {
  const results = new Results();
  const hot = pairing(hotTicket(128), 'floodgate', 'naive');
  recordPair(results, hot, { mine: run(100), other: run(10) });
  recordPair(results, hot, { mine: run(60), other: run(5) });
  recordPair(results, hot, { mine: undefined, other: run(1) });
  recordPair(results, hot, { mine: run(80), other: undefined });
  expect(roundsOf(results, 'naive', 'floodgate ÷ it')).toEqual([10, 12]);
  expect(roundsOf(results, 'naive', 'per second')).toEqual([10, 5, 1]);
  expect(roundsOf(results, 'floodgate', 'per second')).toEqual([100, 60, 80]);
  expect(roundsOf(results, 'floodgate', 'floodgate ÷ it')).toBeUndefined();
  expect(roundsOf(results, 'floodgate', 'CPU µs')).toEqual([120, 120, 120]);
});

test('a load that sets the rate compares times', () => {
  const results = new Results();
  const slow = run(50, { latencyMs: { p50: 20, p90: 20, p99: 20, max: 20 } });
  recordPair(results, pairing(openLoop(50), 'floodgate', 'bullmq'), { mine: run(50), other: slow });
  expect(roundsOf(results, 'bullmq', 'p50 of floodgate ÷ it')).toEqual([0.5]);
  expect(roundsOf(results, 'bullmq', 'per second')).toBeUndefined();
});

test('checkouts are compared as after ÷ before, and CPU where a part took enough of it', () => {
  const results = new Results();
  const checkouts = pairing(hotTicket(128), 'after', 'before');
  const after = run(9_000, {
    cpuMicros: { api: 1_000_000, postgres: 90_000 },
    cpuMicrosEach: { api: 150, postgres: 20 },
  });
  recordCheckouts(results, checkouts, { mine: after, other: run(10_000) });
  recordCheckouts(results, checkouts, { mine: after, other: undefined });
  expect(roundsOf(results, 'hot ticket', 'rate')).toEqual([0.9]);
  expect(roundsOf(results, 'hot ticket', 'API CPU')).toEqual([1.5]);
  expect(roundsOf(results, 'hot ticket', 'Postgres CPU')).toBeUndefined();
});
