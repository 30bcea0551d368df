import type { Pair } from '../compare.ts';
import type { Part } from '../contenders/contender.ts';
import { spread } from '../report/statistics.ts';
import type { CheckoutComparison, Run, Target } from '../results.ts';

/** CPU time is measured in ticks of 10 ms, so ratios of smaller values would be too imprecise. */
const LEAST_CPU_MICROS = 100_000;
const COMPARED_PARTS = ['api', 'worker', 'postgres'] as const;
const LEAST_RATE = 0.97;

/** Returns ratios of neighbouring runs, after ÷ before, by workload. Pairs with a discarded run are left out. */
export function compareCheckouts(pairs: readonly Pair[]): CheckoutComparison[] {
  const counted = pairs.filter(({ floodgate, other }) => !floodgate.discarded && !other.discarded);
  return [...Map.groupBy(counted, ({ other }) => other.workload)].map(([workload, same]) => {
    const ratios = (pick: (run: Run) => number) =>
      spread(same.map(({ floodgate, other }) => pick(floodgate) / pick(other)));
    return {
      workload,
      pairs: same.length,
      // Counts answers, not finalizations: a run lasts only two of the worker's rounds. The rest is finalized before the next run.
      rate: ratios(({ acceptedPerSecond }) => acceptedPerSecond),
      p50: ratios(({ latencyMs }) => latencyMs.p50),
      p99: ratios(({ latencyMs }) => latencyMs.p99),
      cpu: Object.fromEntries(
        COMPARED_PARTS.filter((part) => isMeasured(same, part)).map((part) => [
          part,
          ratios(({ cpuMicros }) => cpuMicros![part]!),
        ]),
      ),
    };
  });
}

/** Returns whether no workload has become slower. */
export function judgeCheckouts(comparisons: readonly CheckoutComparison[]): Target[] {
  return comparisons.map(({ workload, rate }) => ({
    name: `${workload}: rate ÷ before`,
    wanted: `≥ ${LEAST_RATE}`,
    measured: rate.median,
    unit: '',
    met: rate.median >= LEAST_RATE,
  }));
}

function isMeasured(pairs: readonly Pair[], part: Part): boolean {
  return pairs
    .flatMap(({ floodgate, other }) => [floodgate, other])
    .every((run) => (run.cpuMicros?.[part] ?? 0) * answersOf(run) >= LEAST_CPU_MICROS);
}

const answersOf = (run: Run) => run.acceptedPerSecond * run.seconds;
