import { compareCheckouts, judgeCheckouts } from './checkouts/compare-checkouts.ts';
import { compare } from './compare.ts';
import type { Contender } from './contenders/contender.ts';
import { PairRunner } from './pair-runner.ts';
import { allContenders, type Pairing } from './plan.ts';
import type { Progress } from './progress.ts';
import type { BenchResults } from './results.ts';
import type { Servers } from './servers.ts';
import { judgeTargets } from './targets.ts';
import { hotTicket } from './workloads.ts';

type Measured = Pick<
  BenchResults,
  'contenders' | 'workloads' | 'runs' | 'comparisons' | 'checkouts' | 'targets'
>;
type On = [servers: Servers, progress: Progress, signal: AbortSignal];

/** Measures Floodgate against other contenders. */
export async function measurePairings(pairings: readonly Pairing[], on: On): Promise<Measured> {
  const { runs, pairs } = await runAll(pairings, on);
  const comparisons = compare(pairs);
  const targets = judgeTargets({ runs, comparisons });
  return { ...describe(pairings, allContenders, runs), comparisons, targets };
}

/** Measures this checkout against another. */
export async function measureCheckouts(
  [after, before]: [Contender, Contender],
  pairings: readonly Pairing[],
  on: On,
): Promise<Measured> {
  const { runs, pairs } = await runAll(pairings, on);
  const checkouts = compareCheckouts(pairs);
  const described = describe(pairings, [after, before], runs);
  return { ...described, comparisons: [], checkouts, targets: judgeCheckouts(checkouts) };
}

async function runAll(pairings: readonly Pairing[], on: On): Promise<PairRunner> {
  const runner = new PairRunner(...on);
  for (const pairing of pairings) await runner.run(pairing);
  return runner;
}

function describe(
  pairings: readonly Pairing[],
  contenders: readonly Contender[],
  runs: BenchResults['runs'],
): Pick<Measured, 'contenders' | 'workloads' | 'runs'> {
  const planned = [hotTicket(128), ...pairings.map(({ workload }) => workload)];
  const workloads = new Map(planned.map((workload) => [workload.name, workload]));
  const ran = contenders.filter(({ name }) => runs.some((run) => run.contender === name));
  return {
    contenders: ran.map(({ name, description }) => ({ name, description })),
    workloads: [...workloads.values()].map(({ name, description, paced }) => ({ name, description, paced })),
    runs,
  };
}
