import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import { generateLoad } from '@floodgate/rehearsal/load/generate';
import { answersOf, OK, totalAnswers, type LoadResult } from '@floodgate/rehearsal/load/load';
import { createManyEvents, type ManyEvents } from '../stored/many-events.ts';
import { cpuMicrosOfTree } from '@floodgate/test/harness/process-usage.ts';
import { attempt, inTurn, type Bench, type Mode, type Settings } from '../mode.ts';
import { assertReconciled } from '../rates/books.ts';
import { atLeast } from '../report/results.ts';
import { median } from '../report/statistics.ts';
import type { RunDatabase, Servers } from '../servers.ts';
import { findCluster, SHARDS, type CitusCluster } from './cluster.ts';
import { drain, readSold, startSite, type Site } from './site.ts';

/** Two events in each shard, and the number of simultaneous launches. */
const EVENTS = 2 * SHARDS;
const LAUNCHES = 4;
const LOADS = [`${LAUNCHES} launches`, `${EVENTS} events in all shards`] as const;
type CitusLoad = (typeof LOADS)[number];
/** Enough for groups in every shard, and for groups of the best size on plain Postgres. */
const CONNECTIONS = 1_024;
const APIS = 2;
const WARM_UP_SECONDS = 3;
const OVERHEAD_SECONDS = 8;
const SET_UP_SECONDS = 60;
const RATIO = 'per s of Postgres CPU ÷ plain';

const secondsOfRun = ({ seconds }: Settings): number => seconds + WARM_UP_SECONDS + OVERHEAD_SECONDS;

/** A database with its events. */
interface Engine extends ManyEvents {
  name: 'Citus' | 'plain Postgres';
  database: RunDatabase;
}

/** Runs the same load on a Citus cluster and on plain Postgres of the same version, on the same servers. */
export const CITUS: Mode = {
  name: 'citus',
  help: 'a Citus cluster beside plain Postgres; needs TEST_CITUS_URL, or a program in CITUS_CLUSTER that starts one',
  usual: { pairs: 5, seconds: 6 },
  duration: (settings) => SET_UP_SECONDS + 2 * LOADS.length * settings.pairs * secondsOfRun(settings),
  measure: async (bench, settings) => {
    bench.progress.say('a Citus cluster');
    await using cluster = await findCluster();
    await using spread = await cluster.openSpread();
    await using plain = await cluster.openPlain();
    const shape = { events: EVENTS, partners: 1 };
    const engines: Engine[] = [
      { name: 'Citus', database: spread, ...(await createManyEvents(spread.db, shape)) },
      { name: 'plain Postgres', database: plain, ...(await createManyEvents(plain.db, shape)) },
    ];
    bench.progress.add(SET_UP_SECONDS);
    for (let round = 1; round <= settings.pairs; round += 1)
      for (const load of inTurn(LOADS, round))
        await measureRound(bench, cluster, { engines: inTurn(engines, round), load, round }, settings);
  },
};

interface Round {
  engines: readonly Engine[];
  load: CitusLoad;
  round: number;
}

async function measureRound(
  bench: Bench,
  cluster: CitusCluster,
  { engines, load, round }: Round,
  settings: Settings,
): Promise<void> {
  const table = `${load}: ${cluster.description}`;
  const micros = new Map<Engine['name'], number>();
  for (const engine of engines) {
    const requests = load === LOADS[0] ? engine.requests.slice(0, LAUNCHES) : engine.requests;
    const values = await attempt(bench, `${engine.name}, ${load}, round ${round}`, () =>
      runOn(bench.servers, cluster, { ...engine, requests }, settings.seconds),
    );
    bench.progress.add(secondsOfRun(settings));
    if (!values) continue;
    bench.results.add(table, engine.name, values);
    micros.set(engine.name, values['coordinator µs'] + values['other servers µs']);
  }
  const ratio = {
    [RATIO]: (micros.get('plain Postgres') ?? Number.NaN) / (micros.get('Citus') ?? Number.NaN),
  };
  bench.results.add(table, 'Citus', ratio, { [RATIO]: atLeast(0.6) });
}

async function runOn(servers: Servers, cluster: CitusCluster, engine: Engine, seconds: number) {
  await servers.emptyRedis();
  const { db, url } = engine.database;
  const site = await startSite(url, APIS, servers.redisUrl);
  try {
    await generate(site, engine, WARM_UP_SECONDS);
    await drain(db);
    await cluster.checkpoint();
    const soldBefore = await readSold(db);
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
    const sold = (await readSold(db)) - soldBefore;
    const fault = findFault(results, sold);
    if (fault) throw new Error(fault);
    await assertReconciled(db);
    const each = (part: keyof typeof before): number => (after[part] - before[part]) / sold;
    return {
      'registrations/s': sold / Math.max(...results.map((result) => result.seconds)),
      'in a batch': sold / (await countBatches(db, startedAt)),
      'coordinator µs': each('coordinator'),
      'other servers µs': each('workers'),
      'APIs µs': each('apis'),
      'worker µs': each('worker'),
      'Redis µs': each('redis'),
      'p50 ms': median(results.map(({ latencyMs }) => latencyMs.p50)),
      'p99 ms': Math.max(...results.map(({ latencyMs }) => latencyMs.p99)),
      'not accepted': countFailed(results),
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
