import type { Database } from '@floodgate/database';
import { generateLoad } from '@floodgate/rehearsal/load/generate';
import { answersOf, OK, totalAnswers, type Load, type LoadResult } from '@floodgate/rehearsal/load/load';
import type { RequestShape } from '@floodgate/rehearsal/load/load';
import { createFixture } from '@floodgate/test/harness/fixture.ts';
import { openFloodgate } from '../contenders/floodgate.ts';
import type { Bench } from '../mode.ts';
import { assertTickets } from '../rates/books.ts';
import { registerRequest } from '../rates/workloads.ts';
import type { Bound, Values } from '../report/results.ts';
import { quantile } from '../report/statistics.ts';
import { MemoryWatch } from './memory-watch.ts';
import { GREETING } from './overload.ts';
import { dueIn, latencies } from './read-log.ts';

/** The load of the other partner, or of strangers. */
export type OtherLoad = Omit<Load, 'baseUrl' | 'seconds'>;

/** What a partner's latency is measured next to. */
export interface Case {
  name: string;
  targets: Record<string, Bound>;
  /** Returns the rate of the partner, and the load of the other one. */
  plan(db: Database, baseUrl: string): Promise<{ perSecond: number; other: OtherLoad }>;
  /** Commits take 100 ms, and have at most this many registrations each. */
  slowBatchLimit?: string;
  /** Connections of the partner, enough that its requests never wait for one. */
  connections: number;
}

/** Time until the other partner uses all the capacity that it can. */
export const FILLING_SECONDS = 2;

/** Compares a partner's answers next to another load with its answers alone, on the same service. */
export async function measureBeside(
  { servers }: Bench,
  one: Case,
  seconds: number,
  round: number,
): Promise<Values> {
  await using floodgate = await openFloodgate(servers, { slowBatchLimit: one.slowBatchLimit });
  const { db, baseUrl, books, pids } = floodgate;
  const request = await registerRequest(await createFixture(db));
  const { perSecond, other } = await one.plan(db, baseUrl);
  const partner = { baseUrl, requests: [request], connections: one.connections, perSecond, seconds };
  // Alternates the order in each round.
  const before = round % 2 === 1 ? await serve(partner) : undefined;
  const memory = new MemoryWatch(pids.api);
  const crowd = generateLoad({ baseUrl, reconnects: true, ...other, seconds: seconds + FILLING_SECONDS });
  const beside = await serve(partner);
  const crowded = await crowd;
  const { before: usualMiB, max } = await memory.stop();
  const alone = before ?? (await serve(partner));
  await assertTickets(books);
  return {
    'p99 ÷ alone': beside.p99Ms / alone.p99Ms,
    'asked/s': perSecond,
    'answered 00': beside.share,
    'p50 ms alone': alone.p50Ms,
    'p50 ms': beside.p50Ms,
    'p99 ms alone': alone.p99Ms,
    'p99 ms': beside.p99Ms,
    'longest ms alone': alone.maxMs,
    'longest ms': beside.maxMs,
    'API memory + MiB': max - usualMiB,
    ...valuesOfCrowd(crowded),
  };
}

const valuesOfCrowd = (crowd: LoadResult): Values => ({
  'the other: answers/s': totalAnswers(crowd) / crowd.seconds,
  'the other: share of 200': answersOf(crowd, OK) / Math.max(1, totalAnswers(crowd)),
});

/** The answers to a partner. */
interface Served {
  /** Share of "00". */
  share: number;
  /** Time from the scheduled arrival to the "00". */
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

interface PartnerLoad {
  baseUrl: string;
  requests: RequestShape[];
  connections: number;
  perSecond: number;
  seconds: number;
}

/**
 * Generates a partner's open-loop load. Returns its answers after the time until the other uses its capacity.
 */
async function serve({ perSecond, seconds, ...partner }: PartnerLoad): Promise<Served> {
  const { log } = await generateLoad({
    ...partner,
    greeting: GREETING,
    seconds: seconds + FILLING_SECONDS,
    arrivalsPerSecond: perSecond,
    logged: true,
  });
  const from = FILLING_SECONDS * 1_000;
  const numbers = dueIn(log!, { from, to: from + seconds * 1_000 });
  const ms = latencies(log!, numbers, '00');
  const at = (share: number): number => quantile(ms, share);
  return { share: ms.length / numbers.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}
