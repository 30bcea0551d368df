import { expect, test } from 'vitest';
import { compare } from './compare.ts';
import type { Fairness, Run } from './results.ts';
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
  // Only the sent rate and the memory meet their targets.
  expect(met).toEqual([true, false, false, false, true, false, false]);
});

test('a partner beside another one is judged by its seats and by how much longer it waits, more patiently beside bulk calls', () => {
  const alone = { share: 1, p50Ms: 5, p99Ms: 10 };
  const facts = { round: 1, peakPerSecond: 1_000, perSecond: 100, otherPerSecond: 1, otherServed: 1 };
  const judged = (name: Fairness['name'], share: number, p99Ms: number, fault = '') =>
    judgeTargets({
      runs: [],
      comparisons: [],
      fairnesses: [{ ...facts, name, alone, beside: { share, p50Ms: 5, p99Ms }, fault }],
    }).map((target) => target.met);
  expect(judged('a flood of single calls', 0.96, 19)).toEqual([true, true, true]);
  expect(judged('a flood of single calls', 0.94, 21, 'lost')).toEqual([false, false, false]);
  expect(judged('nothing but full bulk calls', 0.96, 29)).toEqual([true, true, true]);
  expect(judged('nothing but full bulk calls', 0.96, 31)).toEqual([true, false, true]);
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

test('finalization is judged by worker and Redis under load, and by what Postgres takes for it alone', () => {
  const round = {
    load: 'hot ticket',
    round: 1,
    perSecond: 1,
    underLoad: { worker: 1, redis: 0.5 },
    registered: 1,
    drained: { worker: 9, redis: 9, postgres: 1 },
    segments: 1,
    journalBytes: 1,
    fault: '',
  };
  const judged = (...finalizations: (typeof round)[]) =>
    judgeTargets({ runs: [], comparisons: [], finalizations });
  expect(judged(round)).toMatchObject([
    { measured: 2.5, met: true },
    { measured: 0, met: true },
  ]);
  expect(judged({ ...round, fault: 'lost' }).map(({ met }) => met)).toEqual([true, false]);
});

test('rows read for a list are those of journal and registrations, beyond one page', () => {
  const fast = { p50: 1, p99: 1 };
  const history = {
    name: 'long',
    registrations: 1,
    segments: 1,
    journalBytes: 1,
    pageSize: 1,
    firstPageMs: { p50: 10, p99: 10 },
    anyPageMs: { p50: 16, p99: 16 },
    reads: { returned: 1_000, requests: 1, segments: 1_001, registrations: 2_000, bytes: 1 },
    finds: { indexedPerSecond: 1, ofEventMs: fast, ofAllMs: fast, pageMs: { p50: 1, p99: 51 } },
    exported: { rows: 1, seconds: 59, peakMiB: 151 },
  };
  expect(judgeTargets({ runs: [], comparisons: [], histories: [history] })).toMatchObject([
    { measured: 1.6, met: false },
    { measured: 1, met: true },
    { measured: 51, met: false },
    { measured: 2.001, met: false },
    { measured: 59, met: true },
    { measured: 151, met: false },
  ]);
});

test('Citus is judged by pairs of one round, and a server that is away by the events of the others', () => {
  const micros = { coordinator: 10, workers: 0, apis: 1, worker: 1, redis: 1 };
  const figures = { perSecond: 1, batchSize: 1, p50Ms: 1, p99Ms: 1, failed: 0, fault: '' };
  const plain = {
    ...figures,
    engine: 'plain Postgres',
    load: 'launches',
    round: 1,
    cpuMicros: micros,
  } as const;
  const spread = { ...plain, engine: 'Citus', cpuMicros: { ...micros, workers: 10 } } as const;
  const living = (perSecond: number) => ({ perSecond, answers: {}, p99Ms: 1 });
  const citus = {
    versions: {},
    workers: 2,
    shards: 32,
    // One run of the second pair is discarded, so the pair does not count.
    runs: [plain, spread, { ...plain, round: 2, fault: 'lost' }, { ...spread, round: 2 }],
    nodeStop: {
      perSecond: 100,
      seconds: 10,
      living: { before: living(100), away: living(89) },
      deadAnswers: { '00': 1, '90': 5, '91': 1, '99': 2 },
      deadP99Ms: 3_001,
      lost: 0,
      doubled: 0,
      fault: '',
    },
  };
  const judged = judgeTargets({ runs: [], comparisons: [], citus });
  expect(judged.map(({ measured }) => measured)).toEqual([0.5, 1, 0.89, 2, 3.001, 0, 0, 0]);
  expect(judged.map(({ met }) => met)).toEqual([false, false, false, false, false, true, true, true]);
});
