import path from 'node:path';
import { assertCheckout, checkout } from '../contenders/checkout.ts';
import type { Mode, Settings } from '../mode.ts';
import { PairRunner, secondsOfPairing } from './pair-runner.ts';
import type { Pairing } from './pairing.ts';
import { bulkPlan, checkoutPlan, clientPlan, fullPlan, growthPlan, quickPlan } from './plan.ts';
import { recordCheckouts, recordPair } from './record.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const STORED_PER_SECOND = 50_000;

/** The lengths of the plan apply, unless the command line has others. */
const AS_PLANNED = { pairs: 0, seconds: 0, only: [] };

/** Returns a mode that runs a plan. */
function rates(
  name: string,
  help: string,
  planOf: (settings: Settings) => readonly Pairing[],
  usual: Partial<Settings> = {},
): Mode {
  return {
    name,
    help,
    usual: { ...AS_PLANNED, ...usual },
    duration: (settings) => secondsOf(narrow(planOf(settings), settings)) + settings.rows / STORED_PER_SECOND,
    measure: async (bench, settings) => {
      const runner = new PairRunner(bench, (pairing, pair) => recordPair(bench.results, pairing, pair));
      for (const pairing of narrow(planOf(settings), settings)) await runner.run(pairing);
    },
  };
}

const secondsOf = (pairings: readonly Pairing[]): number =>
  pairings.reduce((sum, pairing) => sum + secondsOfPairing(pairing), 0);

/** Returns the pairings that the command line selects, with its lengths. Throws if there is none. */
function narrow(plan: readonly Pairing[], { only, pairs, seconds }: Settings): Pairing[] {
  const chosen = plan.filter(({ title }) => only.length === 0 || only.some((part) => title.includes(part)));
  if (chosen.length === 0) throw new Error(`nothing matches --only ${only.join(',')}`);
  return chosen.map((pairing) => ({
    ...pairing,
    pairs: pairs || pairing.pairs,
    seconds: seconds || pairing.seconds,
  }));
}

/** What runs without a mode. */
export const RATES: Mode = rates(
  'rates',
  'rates and latencies next to other designs and ceilings',
  () => fullPlan,
);

const AGAINST: Mode = {
  name: 'against',
  help: 'this checkout and another installed one, in turn',
  usual: AS_PLANNED,
  duration: (settings) => secondsOf(checkoutsOf(settings)),
  measure: async (bench, settings) => {
    await assertCheckout(settings.checkout);
    const runner = new PairRunner(bench, (pairing, pair) => recordCheckouts(bench.results, pairing, pair));
    for (const pairing of checkoutsOf(settings)) await runner.run(pairing);
  },
};

function checkoutsOf(settings: Settings): Pairing[] {
  const [after, before] = [checkout('after', ROOT), checkout('before', settings.checkout)];
  return narrow(checkoutPlan(after, before), settings);
}

export const RATE_MODES: readonly Mode[] = [
  RATES,
  rates('quick', 'one pair each on one hot ticket', () => quickPlan),
  AGAINST,
  rates('bulk', 'bulk calls, single calls, and the same rows without HTTP', () => bulkPlan),
  rates('client', 'one process with @floodgate/client, single calls and bulk calls', () => clientPlan),
  rates(
    'growth',
    'one hot ticket with millions of registrations stored, and with 1,000 events',
    ({ rows }) => growthPlan(rows),
    { rows: 10_000_000 },
  ),
];
