import type { Part } from '../contenders/contender.ts';
import { sumOfParts } from '../meter.ts';
import { atLeast, type Results, type Values } from '../report/results.ts';
import type { Run } from './measure.ts';
import type { Entry, Pair, Pairing } from './pairing.ts';
import { TARGETS } from './targets.ts';

/**
 * Adds a pair to the table of its pairing: the rates, times and costs of both, and the ratio between them.
 * Ratios are those of neighbours: a disturbance that is longer than a run affects both.
 */
export function recordPair(results: Results, { title, mine, other }: Pairing, pair: Pair): void {
  results.notes.set(title, mine.workload.description);
  // A paced load sets the rate, so only times are compared.
  const { arrivalsPerSecond, shareOfPeak } = mine.workload;
  const isPaced = arrivalsPerSecond !== undefined || shareOfPeak !== undefined;
  const compared = isPaced ? `p50 of ${mine.row} ÷ it` : `${mine.row} ÷ it`;
  const figureOf = (run: Run): number => (isPaced ? run.latencyMs.p50 : run.perSecond);
  const add = ({ row }: Entry, run: Run, ratio?: number): void => {
    const rate = isPaced ? {} : { 'per second': run.perSecond };
    results.add(title, row, { ...rate, [compared]: ratio, ...valuesOf(run) }, TARGETS[title]?.[row]);
  };
  if (pair.mine) add(mine, pair.mine);
  if (!other || !pair.other) return;
  add(other, pair.other, pair.mine && figureOf(pair.mine) / figureOf(pair.other));
}

function valuesOf(run: Run): Values {
  const { latencyMs, cpuMicrosEach, residentMiB } = run;
  const { api, worker } = residentMiB;
  return {
    'p50 ms': latencyMs.p50,
    'p99 ms': latencyMs.p99,
    'finalized p99 ms': run.finalizedP99Ms,
    'not accepted': run.refusedShare || undefined,
    'CPU µs': sumOfParts(cpuMicrosEach),
    'API µs': cpuMicrosEach.api,
    'worker µs': cpuMicrosEach.worker,
    'Postgres µs': cpuMicrosEach.postgres,
    'Redis µs': cpuMicrosEach.redis,
    'generator µs': run.generatorMicrosEach,
    'API + worker MiB': api && worker && api + worker,
    'database bytes': run.databaseBytes,
    'log bytes': run.logBytes,
  };
}

/** CPU time is measured in ticks of 10 ms, so ratios of smaller values would be too imprecise. */
const LEAST_CPU_MICROS = 100_000;

/** Adds a pair of two checkouts to one table for all workloads: after ÷ before. */
export function recordCheckouts(
  results: Results,
  { title }: Pairing,
  { mine: after, other: before }: Pair,
): void {
  if (!after || !before) return;
  const cpu = (part: Part): number | undefined => {
    const [mine = 0, other = 0] = [after.cpuMicros[part], before.cpuMicros[part]];
    if (Math.min(mine, other) < LEAST_CPU_MICROS) return undefined;
    return after.cpuMicrosEach[part]! / before.cpuMicrosEach[part]!;
  };
  results.add(
    'After ÷ before',
    title,
    {
      // Answers, not finalizations: a run lasts only two of the worker's rounds. The rest is finalized before
      // the next.
      rate: after.answersPerSecond / before.answersPerSecond,
      p50: after.latencyMs.p50 / before.latencyMs.p50,
      p99: after.latencyMs.p99 / before.latencyMs.p99,
      'API CPU': cpu('api'),
      'worker CPU': cpu('worker'),
      'Postgres CPU': cpu('postgres'),
    },
    { rate: atLeast(0.97) },
  );
}
