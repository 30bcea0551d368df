import path from 'node:path';
import { assertCheckout, checkout } from './checkouts/checkout.ts';
import { withFlags } from './contenders/contender.ts';
import { floodgate } from './contenders/floodgate.ts';
import { citus, citusSeconds } from './citus/citus.ts';
import { fairnesses, fairnessSeconds } from './fairness.ts';
import { finalizations, finalizationSeconds } from './finalization.ts';
import { hostiles, hostileSeconds } from './hostile.ts';
import { DEFAULT_ROWS, histories, historySeconds } from './history/history.ts';
import { FIGURES, type FigureKind } from './installation/figures.ts';
import type { Options } from './options.ts';
import { outages, outageSeconds } from './outages.ts';
import { OVERLOAD_SECONDS, overloads } from './overload.ts';
import { secondsOfPairing } from './pair-runner.ts';
import { measureCheckouts, measurePairings } from './pairings.ts';
import {
  allContenders,
  bulkPlan,
  checkoutPlan,
  clientPlan,
  fullPlan,
  growthPlan,
  quickPlan,
  type Pairing,
} from './plan.ts';
import type { Progress } from './progress.ts';
import type { BenchResults } from './results.ts';
import type { Servers } from './servers.ts';
import { soak, SOAK_SECONDS } from './soak.ts';
import { startOften, startsSeconds } from './starts/starts.ts';
import { judgeTargets } from './targets.ts';
import { DEFAULT_WEBHOOK_ROWS, webhookDrains, webhooksSeconds } from './webhooks/webhooks.ts';

/** The kind of measurement that the command line selects. */
export interface Kind {
  /** Approximate duration. */
  seconds: number;
  measure(servers: Servers, progress: Progress, signal: AbortSignal): Promise<Partial<BenchResults>>;
}

const THIS_CHECKOUT = path.resolve(import.meta.dirname, '../../..');

/** Returns the kind for these options. Throws with the reason if there is nothing to measure. */
export async function chooseKind(options: Options): Promise<Kind> {
  if (options.soak) return alone(SOAK_SECONDS, async (...on) => ({ soak: await soak(...on) }));
  if (options.overload)
    return alone(OVERLOAD_SECONDS, async (...on) => ({ overloads: await overloads(...on) }));
  if (options.fair) return fairnessOf(options);
  if (options.hostile) return hostileOf(options);
  if (options.outages) return outagesOf(options);
  if (options.history) return historyOf(options);
  if (options.webhooks) return webhooksOf(options);
  if (options.citus) return citusOf(options);
  if (options.finalization) return finalizationOf(options);
  const figures = FIGURES.find((one) => options[one.option]);
  if (figures) return figuresOf(options, figures);
  if (options.starts !== undefined) return startsOf(options, options.starts);
  if (options.against !== undefined) return checkoutsOf(options, options.against);
  const pairings = narrow(planOf(options), options);
  return { seconds: secondsOf(pairings), measure: (...on) => measurePairings(pairings, on) };
}

function planOf({ quick, growth, bulk, client }: Options): Pairing[] {
  if (quick) return quickPlan();
  if (growth) return growthPlan();
  if (client) return clientPlan();
  return bulk ? bulkPlan() : fullPlan();
}

/** Returns a measurement of Floodgate alone, judged by its targets. */
function alone(
  seconds: number,
  measure: (
    ...on: Parameters<Kind['measure']>
  ) => Promise<
    Pick<
      BenchResults,
      | 'soak'
      | 'overloads'
      | 'fairnesses'
      | 'hostiles'
      | 'outages'
      | 'finalizations'
      | 'citus'
      | 'histories'
      | 'webhooks'
      | 'figures'
    >
  >,
): Kind {
  return {
    seconds,
    measure: async (...on) => {
      const measured = await measure(...on);
      return { ...measured, targets: judgeTargets({ runs: [], comparisons: [], ...measured }) };
    },
  };
}

function fairnessOf({ pairs = 2, seconds = 8 }: Options): Kind {
  const options = { rounds: pairs, seconds };
  return alone(fairnessSeconds(options), async (servers, ...on) => ({
    fairnesses: await fairnesses(servers, options, ...on),
  }));
}

function hostileOf({ pairs = 1, seconds = 6, workloads: only }: Options): Kind {
  const options = { rounds: pairs, seconds, only };
  return alone(hostileSeconds(options), async (servers, ...on) => ({
    hostiles: await hostiles(servers, options, ...on),
  }));
}

function outagesOf({ redisSeconds = 60, postgresSeconds = 10, rate = 5_000 }: Options): Kind {
  const options = { redisSeconds, postgresSeconds, perSecond: rate };
  return alone(outageSeconds(options), async (servers, ...on) => ({
    outages: await outages(servers, options, ...on),
  }));
}

function finalizationOf({ pairs = 3, seconds = 6 }: Options): Kind {
  const options = { rounds: pairs, seconds };
  return alone(finalizationSeconds(options), async (servers, ...on) => ({
    finalizations: await finalizations(servers, options, ...on),
  }));
}

function citusOf({ pairs = 5, seconds = 6 }: Options): Kind {
  const options = { pairs, seconds };
  return alone(citusSeconds(options), async (servers, ...on) => ({
    citus: await citus(servers, options, ...on),
  }));
}

function historyOf({ rows = DEFAULT_ROWS }: Options): Kind {
  return alone(historySeconds({ rows }), async (servers, ...on) => ({
    histories: await histories(servers, { rows }, ...on),
  }));
}

function webhooksOf({ rows = DEFAULT_WEBHOOK_ROWS, pairs = 3 }: Options): Kind {
  const options = { rows, rounds: pairs };
  return alone(webhooksSeconds(options), async (servers, ...on) => ({
    webhooks: await webhookDrains(servers, options, ...on),
  }));
}

async function figuresOf({ checkout: folder, ...options }: Options, kind: FigureKind): Promise<Kind> {
  const directory = path.resolve(folder ?? THIS_CHECKOUT);
  await assertCheckout(directory);
  return alone(kind.seconds(options), async (servers, progress) => {
    progress.say(kind.option);
    return { figures: await kind.measure(directory, options, servers) };
  });
}

function startsOf({ contenders = [floodgate.name], seconds = 4, flags }: Options, count: number): Kind {
  // Started like `npm run api`, so that flags can be added.
  const known = [checkout(floodgate.name, THIS_CHECKOUT), ...allContenders.slice(1)];
  const contender = known.find(({ name }) => name === contenders.join(','));
  if (!contender) throw new Error(`--starts takes one contender, not ${contenders.join(',')}`);
  const options = { contender, count, seconds, flags };
  return {
    seconds: startsSeconds(options),
    measure: async (servers, ...on) => ({ starts: await startOften(servers, options, ...on) }),
  };
}

async function checkoutsOf(options: Options, directory: string): Promise<Kind> {
  await assertCheckout(directory);
  const flags = options.flags.flat();
  const after = withFlags(checkout('after', THIS_CHECKOUT), flags);
  const before = withFlags(checkout('before', path.resolve(directory)), flags);
  const pairings = narrow(checkoutPlan(after, before), options);
  return {
    seconds: secondsOf(pairings),
    measure: (...on) => measureCheckouts([after, before], pairings, on),
  };
}

function narrow(plan: readonly Pairing[], { contenders, workloads, pairs, seconds }: Options): Pairing[] {
  const chosen = plan.filter(
    ({ against, workload }) =>
      (!contenders || contenders.includes(against?.name ?? floodgate.name)) &&
      (!workloads || workloads.includes(workload.name)),
  );
  if (chosen.length === 0) throw new Error('nothing of the plan matches these options');
  return chosen.map((pairing) => ({
    ...pairing,
    pairs: pairs ?? pairing.pairs,
    seconds: seconds ?? pairing.seconds,
  }));
}

const secondsOf = (pairings: readonly Pairing[]): number =>
  pairings.reduce((sum, pairing) => sum + secondsOfPairing(pairing), 0);
