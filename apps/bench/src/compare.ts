import { spread } from './report/statistics.ts';
import type { Comparison, Run } from './results.ts';

/** Returns the rate for comparisons. */
export const rateOf = (run: Run): number => run.finalizedPerSecond ?? run.acceptedPerSecond;

/** Two neighbouring runs of one pairing. */
export interface Pair {
  floodgate: Run;
  other: Run;
}

/** Returns ratios of neighbouring runs: a disturbance longer than a run affects both. */
export function compare(pairs: readonly Pair[]): Comparison[] {
  const counted = pairs.filter(({ floodgate, other }) => !floodgate.discarded && !other.discarded);
  const byPairing = Map.groupBy(counted, ({ other }) =>
    JSON.stringify([other.workload, other.connections, other.contender]),
  );
  return [...byPairing.values()].map((same) => {
    const { workload, connections, contender } = same[0]!.other;
    const ratios = same.map(({ floodgate, other }) => rateOf(floodgate) / rateOf(other));
    return { workload, connections, contender, pairs: same.length, ratio: spread(ratios) };
  });
}
