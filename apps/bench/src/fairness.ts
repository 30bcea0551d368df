import type { Database } from '@floodgate/database';
import { createFixture } from '@floodgate/test/harness/fixture.ts';
import { callOf } from './contenders/bulk.ts';
import type { RunningContender } from './contenders/contender.ts';
import { startFloodgate } from './contenders/floodgate.ts';
import { generateLoad } from '@floodgate/rehearsal/load/generate';
import {
  answersOf,
  OK,
  totalAnswers,
  type LoadResult,
  type RequestShape,
} from '@floodgate/rehearsal/load/load';
import { dueIn, latencies } from './load/read-log.ts';
import { finalizeAll } from './measure.ts';
import { slowCommits } from './overload.ts';
import type { Progress } from './progress.ts';
import { quantile } from './report/statistics.ts';
import type { Fairness, Served } from './results.ts';
import type { Servers } from './servers.ts';
import { registerRequest } from './workloads.ts';

export interface FairnessOptions {
  rounds: number;
  /** Length of each load. */
  seconds: number;
}

/** A partner, and another one that uses all capacity. */
interface Case {
  name: Fairness['name'];
  /** Uses a slow Postgres, so that two cores suffice to generate and refuse ten times its capacity. */
  isSlow: boolean;
  /** Returns the partner's rate, from the peak of the service. */
  perSecond(peak: number): number;
  /** Generates the other partner's load. */
  crowd(baseUrl: string, request: RequestShape, peak: number, seconds: number): Promise<LoadResult>;
}

const CASES: readonly Case[] = [
  {
    name: 'a flood of single calls',
    isSlow: true,
    perSecond: () => 100,
    crowd: (baseUrl, request, peak, seconds) =>
      generateLoad({
        baseUrl,
        requests: [request],
        connections: PARTNERS,
        greeting: GREETING,
        patienceMs: 1_000,
        seconds,
        arrivalsPerSecond: FLOOD * peak,
      }),
  },
  {
    name: 'nothing but full bulk calls',
    isSlow: false,
    perSecond: (peak) => Math.round(peak / 2),
    crowd: (baseUrl, request, _peak, seconds) =>
      generateLoad({ baseUrl, requests: [callOf(request, FULL_CALL)], connections: 8, seconds }),
  },
];

const FLOOD = 10;
const FULL_CALL = 1_000;
const GREETING = { method: 'GET', path: '/health/live', headers: {} } as const;
/** About 450/s with commits of 100 ms. The API can read and refuse ten times as many. */
const SLOW_BATCH_LIMIT = '50';
/** Connections of a partner, enough that its requests never wait for one. */
const PARTNERS = 2_000;
const PEAK_CONNECTIONS = 512;
const WARM_UP_SECONDS = 3;
const PEAK_SECONDS = 3;
/** Time until the other partner uses all capacity. */
const FILLING_SECONDS = 2;
const OVERHEAD_SECONDS = 12;

export const fairnessSeconds = ({ rounds, seconds }: FairnessOptions): number =>
  rounds *
  CASES.length *
  (WARM_UP_SECONDS + PEAK_SECONDS + 2 * (seconds + FILLING_SECONDS) + OVERHEAD_SECONDS);

/** Compares a partner's answers next to a partner that uses all capacity with its answers alone on the same service. */
export async function fairnesses(
  servers: Servers,
  options: FairnessOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<Fairness[]> {
  const results: Fairness[] = [];
  for (let round = 1; round <= options.rounds; round += 1)
    for (const one of CASES) {
      signal.throwIfAborted();
      progress.say(`beside ${one.name}, round ${round}`);
      results.push(await measureCase(servers, one, round, options.seconds));
      progress.add(fairnessSeconds({ ...options, rounds: 1 }) / CASES.length);
    }
  return results;
}

async function measureCase(servers: Servers, one: Case, round: number, seconds: number): Promise<Fairness> {
  await using database = await servers.openDatabase();
  await servers.emptyRedis();
  if (one.isSlow) await slowCommits(database.db);
  const running = await startFloodgate(
    { databaseUrl: database.url, redisUrl: servers.redisUrl, db: database.db },
    one.isSlow ? { BATCH_LIMIT: SLOW_BATCH_LIMIT } : {},
  );
  try {
    const [modest, other] = [await requestOf(database.db), await requestOf(database.db)];
    const peak = await findPeak(running.baseUrl, other);
    const perSecond = one.perSecond(peak);
    const alone = () => serve(running.baseUrl, modest, perSecond, seconds);
    const beside = async () => {
      const crowd = one.crowd(running.baseUrl, other, peak, seconds + FILLING_SECONDS);
      return { served: await serve(running.baseUrl, modest, perSecond, seconds), crowd: await crowd };
    };
    // Alternates the order in each round.
    const before = round % 2 === 1 ? await alone() : undefined;
    const { served, crowd } = await beside();
    return {
      name: one.name,
      round,
      peakPerSecond: peak,
      perSecond,
      alone: before ?? (await alone()),
      beside: served,
      otherPerSecond: totalAnswers(crowd) / crowd.seconds,
      otherServed: answersOf(crowd, OK) / totalAnswers(crowd),
      fault: await findFault(running),
    };
  } finally {
    await running.stop();
  }
}

const requestOf = async (db: Database) => registerRequest(await createFixture(db));

async function findPeak(baseUrl: string, request: RequestShape): Promise<number> {
  const closed = { baseUrl, requests: [request], connections: PEAK_CONNECTIONS };
  await generateLoad({ ...closed, seconds: WARM_UP_SECONDS });
  const result = await generateLoad({ ...closed, seconds: PEAK_SECONDS });
  return answersOf(result, OK) / result.seconds;
}

/** Returns the answers to a partner's open-loop load. */
async function serve(
  baseUrl: string,
  request: RequestShape,
  perSecond: number,
  seconds: number,
): Promise<Served> {
  const { log } = await generateLoad({
    baseUrl,
    requests: [request],
    connections: PARTNERS,
    greeting: GREETING,
    seconds: seconds + FILLING_SECONDS,
    arrivalsPerSecond: perSecond,
    logged: true,
  });
  const from = FILLING_SECONDS * 1_000;
  const numbers = dueIn(log!, { from, to: from + seconds * 1_000 });
  const ms = latencies(log!, numbers, '00');
  return { share: ms.length / numbers.length, p50Ms: quantile(ms, 0.5), p99Ms: quantile(ms, 0.99) };
}

async function findFault(running: RunningContender): Promise<string> {
  if (!(await finalizeAll(running))) return 'not everything was finalized';
  const { wrongTickets } = await running.books!.read();
  return wrongTickets > 0 ? `${wrongTickets} tickets oversold or miscounted` : '';
}
