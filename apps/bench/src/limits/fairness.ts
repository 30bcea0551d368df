import type { Database } from '@floodgate/database';
import type { RequestShape } from '@floodgate/rehearsal/load/load';
import { createFixture } from '@floodgate/test/harness/fixture.ts';
import { attempt, type Mode, type Settings } from '../mode.ts';
import { callOf, registerRequest } from '../rates/workloads.ts';
import { atLeast, atMost } from '../report/results.ts';
import { FILLING_SECONDS, measureBeside, type Case } from './beside.ts';
import { findPeak, GREETING } from './overload.ts';

const FLOOD = 10;
const FULL_CALL = 1_000;
/** About 450/s with slow commits. Two cores suffice to generate, read and refuse ten times as many. */
const SLOW_BATCH_LIMIT = '50';
const PARTNERS = 2_000;
const PEAK = { connections: 512, seconds: 3 };
const PEAK_SECONDS = 6;
const OVERHEAD_SECONDS = 12;

const served = { 'answered 00': atLeast(0.95) };

const CASES: readonly Case[] = [
  {
    name: 'a flood of single calls',
    slowBatchLimit: SLOW_BATCH_LIMIT,
    connections: PARTNERS,
    targets: { ...served, 'p99 ÷ alone': atMost(2) },
    plan: async (db, baseUrl) => {
      const { request, peak } = await peakOf(db, baseUrl);
      const flood = { connections: PARTNERS, greeting: GREETING, patienceMs: 1_000 };
      return { perSecond: 100, other: { ...flood, requests: [request], arrivalsPerSecond: FLOOD * peak } };
    },
  },
  {
    name: 'nothing but full bulk calls',
    connections: PARTNERS,
    targets: { ...served, 'p99 ÷ alone': atMost(3) },
    plan: async (db, baseUrl) => {
      const { request, peak } = await peakOf(db, baseUrl);
      const other = { requests: [callOf(request, FULL_CALL)], connections: 8 };
      return { perSecond: Math.round(peak / 2), other };
    },
  },
];

/** Returns a registration of the other partner, and how many of them the service accepts per second. */
async function peakOf(db: Database, baseUrl: string): Promise<{ request: RequestShape; peak: number }> {
  const request = await registerRequest(await createFixture(db));
  return { request, peak: await findPeak({ baseUrl, requests: [request], ...PEAK }) };
}

const secondsOfCase = ({ seconds }: Settings): number =>
  PEAK_SECONDS + 2 * (seconds + FILLING_SECONDS) + OVERHEAD_SECONDS;

/**
 * A partner next to another one that uses all capacity: ten times the peak, or as many full bulk calls as
 * possible.
 */
export const FAIR: Mode = {
  name: 'fair',
  help: 'a partner while another one takes all capacity',
  usual: { pairs: 2, seconds: 8 },
  duration: (settings) => settings.pairs * CASES.length * secondsOfCase(settings),
  measure: async (bench, settings) => {
    for (let round = 1; round <= settings.pairs; round += 1)
      for (const one of CASES) {
        const values = await attempt(bench, `beside ${one.name}, round ${round}`, () =>
          measureBeside(bench, one, settings.seconds, round),
        );
        if (values) bench.results.add('A partner beside a greedy one', one.name, values, one.targets);
        bench.progress.add(secondsOfCase(settings));
      }
  },
};
