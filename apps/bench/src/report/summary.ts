import { PARTS, type Part } from '../contenders/contender.ts';
import type { BenchResults, Run, Spread } from '../results.ts';
import { rateOf } from '../compare.ts';
import { medianOf, spread } from './statistics.ts';

/** Figures of each measured part, and their total. */
export type ByPart = Partial<Record<Part | 'total', number>>;

/** One contender under one workload with one number of connections: medians of the runs that count. */
export interface Row {
  contender: string;
  connections: number;
  runs: number;
  discardedRuns: number;
  /** Each run's rate per second of finalized registrations, or of answers if nothing is registered. */
  rates: number[];
  registers: boolean;
  rate?: Spread;
  /** Floodgate's rate divided by this one's. */
  ratio?: Spread;
  latencyMs?: { p50: number; p99: number };
  waitP99Ms?: number;
  /** From 0 to 1. Absent without refusals. */
  refusedShare?: number;
  cpuMicros: ByPart;
  residentMiB: ByPart;
}

export interface WorkloadSummary {
  name: string;
  description: string;
  /** Whether the load sets the rate, so that only latency differs. */
  paced: boolean;
  severalConnections: boolean;
  rows: Row[];
}

/** Returns the workloads of the run in the report's order, each with a row per contender and number of connections. */
export function summarize(results: BenchResults): WorkloadSummary[] {
  return namesInOrder(results.workloads, results.runs, 'workload').map(({ name, description, paced }) => {
    const runs = results.runs.filter((run) => run.workload === name);
    return {
      name,
      description,
      paced,
      severalConnections: new Set(runs.map((run) => run.connections)).size > 1,
      rows: namesInOrder(results.contenders, runs, 'contender').flatMap((contender) =>
        rowsOf(
          runs.filter((run) => run.contender === contender.name),
          results,
        ),
      ),
    };
  });
}

export function discardedRuns(results: BenchResults): Run[] {
  return results.runs.filter((run) => run.discarded !== undefined);
}

function rowsOf(runs: Run[], results: BenchResults): Row[] {
  const byConnections = Map.groupBy(runs, (run) => run.connections);
  return [...byConnections].sort(([a], [b]) => a - b).map(([, same]) => rowOf(same, results));
}

function rowOf(runs: Run[], results: BenchResults): Row {
  const { contender, workload, connections } = runs[0]!;
  const counted = runs.filter((run) => run.discarded === undefined);
  const registers = counted.length > 0 && counted.every((run) => run.finalizedPerSecond !== undefined);
  const rates = counted.map(rateOf);
  const comparison = results.comparisons.find(
    (other) =>
      other.contender === contender && other.workload === workload && other.connections === connections,
  );
  return {
    contender,
    connections,
    runs: counted.length,
    discardedRuns: runs.length - counted.length,
    rates,
    registers,
    ...defined('rate', rates.length === 0 ? undefined : spread(rates)),
    ...defined('ratio', comparison?.ratio),
    ...defined('latencyMs', latencyOf(counted)),
    ...defined('waitP99Ms', medianOf(counted.map((run) => run.waitMs?.p99))),
    ...defined('refusedShare', medianOf(counted.map(refusedShare)) || undefined),
    cpuMicros: byPart(counted.map((run) => run.cpuMicros)),
    residentMiB: byPart(counted.map((run) => run.residentMiB)),
  };
}

function latencyOf(runs: Run[]): Row['latencyMs'] {
  const p50 = medianOf(runs.map((run) => run.latencyMs.p50));
  const p99 = medianOf(runs.map((run) => run.latencyMs.p99));
  return p50 === undefined || p99 === undefined ? undefined : { p50, p99 };
}

function refusedShare(run: Run): number {
  const refused = Object.values(run.refused).reduce((sum, count) => sum + count, 0);
  return refused === 0 ? 0 : refused / (refused + run.accepted);
}

/** Returns the figures by part. A run's total is the measured one, otherwise the sum of its parts. */
function byPart(runs: (ByPart | undefined)[]): ByPart {
  const measured = runs.filter((run) => run !== undefined);
  const totals = measured.map((run) => run.total ?? PARTS.reduce((sum, part) => sum + (run[part] ?? 0), 0));
  const parts = PARTS.map((part) => [part, medianOf(measured.map((run) => run[part]))] as const);
  return Object.fromEntries(
    [...parts, ['total', medianOf(totals)] as const].filter(([, value]) => value !== undefined),
  );
}

/** Returns the names that were run. */
function namesInOrder<Described extends { name: string }>(
  described: readonly Described[],
  runs: readonly Run[],
  key: 'workload' | 'contender',
): Described[] {
  const ran = new Set(runs.map((run) => run[key]));
  return described.filter(({ name }) => ran.has(name));
}

/** Returns an object without the property if the value is undefined. */
function defined<Key extends string, Value>(key: Key, value: Value | undefined): Partial<Record<Key, Value>> {
  return value === undefined ? {} : ({ [key]: value } as Record<Key, Value>);
}
