import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import { generateLoad } from '@floodgate/rehearsal/load/generate';
import { answersOf, OK, totalAnswers, type LoadResult } from '@floodgate/rehearsal/load/load';
import { createManyEvents, type ManyEvents } from '../many-events.ts';
import { cpuMicrosOfTree } from '@floodgate/test/harness/process-usage.ts';
import type { Progress } from '../progress.ts';
import { median } from '../report/statistics.ts';
import type { Citus, CitusRun } from '../results.ts';
import type { RunDatabase, Servers } from '../servers.ts';
import { findCluster, SHARDS, type CitusCluster } from './cluster.ts';
import { nodeStops, NODE_STOPS_SECONDS } from './node-stops.ts';
import { drain, readFault, readSold, startSite, type Site } from './site.ts';

export interface CitusOptions {
  pairs: number;
  seconds: number;
}

/** Two events in each shard, and the number of simultaneous launches. */
const EVENTS = 2 * SHARDS;
const LAUNCHES = 4;
const LOADS = ['launches', 'everywhere'] as const;
/** Enough for groups in every shard, and for groups of the best size on plain Postgres. */
const CONNECTIONS = 1_024;
const APIS = 2;
const WARM_UP_SECONDS = 3;
const OVERHEAD_SECONDS = 8;
const SET_UP_SECONDS = 60;

const secondsOfRun = ({ seconds }: CitusOptions) => seconds + WARM_UP_SECONDS + OVERHEAD_SECONDS;

export const citusSeconds = (options: CitusOptions): number =>
  SET_UP_SECONDS + 3 * LOADS.length * options.pairs * secondsOfRun(options) + NODE_STOPS_SECONDS;

/** A database with its events and the URLs for APIs. */
export interface Engine extends ManyEvents {
  name: CitusRun['engine'];
  database: RunDatabase;
  /** One URL for each API. */
  entries: string[];
}

/**
 * Runs the same load on a Citus cluster, through its coordinator and through its workers, and on plain Postgres. Then one of the
 * cluster's servers crashes. Throws if there is no cluster.
 */
export async function citus(
  servers: Servers,
  options: CitusOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<Citus> {
  progress.say('a Citus cluster');
  await using cluster = await findCluster();
  await using spread = await cluster.openSpread();
  await using plain = await cluster.openPlain();
  const shape = { events: EVENTS, partners: 1 };
  const events = await createManyEvents(spread.db, shape);
  const engines: Engine[] = [
    { name: 'Citus', database: spread, entries: Array<string>(APIS).fill(spread.url), ...events },
    {
      name: 'plain Postgres',
      database: plain,
      entries: Array<string>(APIS).fill(plain.url),
      ...(await createManyEvents(plain.db, shape)),
    },
    { name: 'Citus, entered by its workers', database: spread, entries: spread.entries, ...events },
  ];
  progress.add(SET_UP_SECONDS);
  const runs: CitusRun[] = [];
  const turns = LOADS.flatMap((load) => engines.map((engine) => ({ load, engine })));
  for (let round = 1; round <= options.pairs; round += 1)
    for (const { load, engine } of round % 2 === 1 ? turns : turns.toReversed()) {
      signal.throwIfAborted();
      progress.say(`${engine.name}, ${load}, round ${round}`);
      const requests = load === 'launches' ? engine.requests.slice(0, LAUNCHES) : engine.requests;
      const measured = await runOn(servers, cluster, { ...engine, requests }, options.seconds);
      runs.push({ engine: engine.name, load, round, ...measured });
      progress.add(secondsOfRun(options));
    }
  const everywhere = runs.filter(({ engine, load }) => engine === 'Citus' && load === 'everywhere');
  const peaks = everywhere.map(({ perSecond }) => perSecond);
  // Requests at a fixed rate make groups of one or two, which cost far more per registration than the groups of the peak.
  const stopped = await nodeStops(servers, cluster, engines[0]!, median(peaks) / 4, { progress, signal });
  return { versions: cluster.versions, workers: cluster.workers, shards: SHARDS, runs, ...stopped };
}

async function runOn(
  servers: Servers,
  cluster: CitusCluster,
  engine: Engine,
  seconds: number,
): Promise<Omit<CitusRun, 'engine' | 'load' | 'round'>> {
  await servers.emptyRedis();
  const { db, url } = engine.database;
  const site = await startSite(url, engine.entries, servers.redisUrl);
  try {
    await generate(site, engine, WARM_UP_SECONDS);
    await drain(db);
    await cluster.checkpoint();
    const soldBefore = sum(await readSold(db));
    const read = async () => ({
      ...(await cluster.cpuMicros()),
      ...(await site.cpuMicros()),
      redis: (await cpuMicrosOfTree(servers.pids.redis)) ?? Number.NaN,
    });
    const startedAt = new Date();
    const before = await read();
    const results = await generate(site, engine, seconds);
    await drain(db);
    const after = await read();
    const sold = sum(await readSold(db)) - soldBefore;
    const names = Object.keys(before) as (keyof typeof before)[];
    const used = names.map((name) => [name, (after[name] - before[name]) / sold] as const);
    return {
      perSecond: sold / Math.max(...results.map((result) => result.seconds)),
      cpuMicros: Object.fromEntries(used) as CitusRun['cpuMicros'],
      batchSize: sold / (await countBatches(db, startedAt)),
      p50Ms: median(results.map(({ latencyMs }) => latencyMs.p50)),
      p99Ms: Math.max(...results.map(({ latencyMs }) => latencyMs.p99)),
      failed: countFailed(results),
      fault: findFault(results, sold) || (await readFault(db)),
    };
  } finally {
    await site.stop();
  }
}

/** Generates half of the load on each API. */
function generate({ baseUrls }: Site, { requests }: Engine, seconds: number): Promise<LoadResult[]> {
  const connections = CONNECTIONS / baseUrls.length;
  return Promise.all(baseUrls.map((baseUrl) => generateLoad({ baseUrl, requests, connections, seconds })));
}

/** Returns the number of answers 90 and 91. Registrations with 91 may be stored. */
const countFailed = (results: readonly LoadResult[]) =>
  results.reduce((all, result) => all + totalAnswers(result) - answersOf(result, OK), 0);

function findFault(results: readonly LoadResult[], sold: number): string {
  const accepted = results.reduce((all, result) => all + answersOf(result, OK), 0);
  const isWithin = sold >= accepted && sold <= accepted + countFailed(results);
  return isWithin ? '' : `${accepted} were accepted, but ${sold} are stored`;
}

async function countBatches(db: Database, since: Date): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from batches where created_at >= ${since} and size > 0`.execute(db);
  return rows[0]!.count;
}

const sum = (sold: Map<number, number>) => [...sold.values()].reduce((all, one) => all + one, 0);
