import { spread } from './report/statistics.ts';
import type { Comparison, Run } from './results.ts';

/** The rate that runs are compared by. */
export const rateOf = (run: Run): number => run.finalizedPerSecond ?? run.acceptedPerSecond;

/** Two neighbouring runs of one pairing. */
export interface Pair {
  floodgate: Run;
  other: Run;
}

/** Ratios of neighbouring runs: what disturbs the machine for longer than a run disturbs both. */
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
