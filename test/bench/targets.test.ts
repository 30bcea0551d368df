import { expect, test } from 'vitest';
import { compare } from './compare.ts';
import type { Run } from './results.ts';
import { judgeTargets } from './targets.ts';

const run = (differing: Partial<Run>): Run => ({
  contender: 'floodgate',
  workload: 'hot ticket',
  connections: 128,
  round: 1,
  seconds: 5,
  accepted: 100,
  refused: {},
  acceptedPerSecond: 20,
  latencyMs: { p50: 1, p90: 2, p99: 3, max: 4 },
  ...differing,
});
const pair = (mine: Partial<Run>, other: Partial<Run>) => ({
  floodgate: run(mine),
  other: run({ contender: 'peer-a', ...other }),
});

test('ratios are those of neighbouring runs, and a pair with a discarded half does not count', () => {
  const pairs = [
    pair({ finalizedPerSecond: 100 }, { finalizedPerSecond: 10 }),
    pair({ finalizedPerSecond: 60 }, { finalizedPerSecond: 5 }),
    pair({ finalizedPerSecond: 999 }, { finalizedPerSecond: 1, discarded: 'lost' }),
  ];
  expect(compare(pairs)).toEqual([
    {
      workload: 'hot ticket',
      connections: 128,
      contender: 'peer-a',
      pairs: 2,
      ratio: { median: 11, min: 10, max: 12 },
    },
  ]);
});

test('a target is judged by what was measured, and left out where nothing was', () => {
  expect(judgeTargets({ runs: [], comparisons: [] })).toEqual([]);
  const [target, ...others] = judgeTargets({
    runs: [],
    comparisons: compare([pair({ finalizedPerSecond: 100 }, { finalizedPerSecond: 5 })]),
  });
  expect(target).toMatchObject({ measured: 20, wanted: '≥ 25', met: false });
  expect(others).toEqual([]);
});

test('figures of the hot ticket are those at 128 connections', () => {
  const runs = [
    run({ cpuMicros: { total: 50 } }),
    run({ cpuMicros: { total: 40 }, connections: 512 }),
    run({ cpuMicros: { total: 1 }, discarded: 'lost' }),
  ];
  expect(judgeTargets({ runs, comparisons: [] })).toMatchObject([{ measured: 50, met: false }]);
});

test('a soak without figures of memory is not judged', () => {
  const soak = { description: '', samples: [{ second: 5, residentMiB: {} }] };
  expect(judgeTargets({ runs: [], comparisons: [], soak })).toEqual([]);
  const grown = [60, 90, 570, 600].map((second) => ({
    second,
    residentMiB: { api: second < 100 ? 100 : 200, worker: 100 },
  }));
  expect(
    judgeTargets({ runs: [], comparisons: [], soak: { description: '', samples: grown } }),
  ).toMatchObject([
    { measured: 1.5, met: false },
    { measured: 300, met: true },
  ]);
});

const memory = { before: 100, max: 120, after: 110 };

test('an overload is judged by what was accepted of the peak, and by its refusals', () => {
  const overload = {
    bottleneck: 'CPU',
    peakPerSecond: 100,
    offeredPerSecond: 300,
    sentPerSecond: 300,
    acceptedPerSecond: 89,
    sendLagP99Ms: 1,
    acceptedMs: { p50: 1, p99: 1 },
    refusedMs: { p50: 1, p99: 51 },
    answers: {},
    refusedWithoutRetryAfter: 1,
    recoverySeconds: 3,
    apiMiB: memory,
    generatorCores: 1,
    fault: 'lost',
  } as const;
  const met = judgeTargets({ runs: [], comparisons: [], overloads: [overload] }).map((target) => target.met);
  // Sent and memory are well, all else is not.
  expect(met).toEqual([true, false, false, false, true, false, false]);
});

test('an outage of Redis may fail nobody; one of Postgres may, but soon and only with 90 or 91', () => {
  const outage = {
    seconds: 10,
    perSecond: 100,
    answers: { '00': 9, '90': 1, '91': 1 },
    slowestMs: 2_900,
    lost: 0,
    doubled: 0,
    servedAfterSeconds: 1,
    confirmedAfterSeconds: 1,
    apiMiB: memory,
    fault: '',
  };
  const judged = (name: 'Postgres' | 'Redis, emptied', differing = {}) =>
    judgeTargets({ runs: [], comparisons: [], outages: [{ ...outage, name, ...differing }] })
      .filter((target) => !target.met)
      .map((target) => target.name);
  expect(judged('Postgres')).toEqual([]);
  expect(judged('Redis, emptied')).toEqual(['Redis, emptied away for 10 s: failed registrations']);
  expect(judged('Postgres', { answers: { '99': 1 }, lost: 1, doubled: 1, slowestMs: 3_001 })).toHaveLength(4);
});
