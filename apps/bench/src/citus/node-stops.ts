import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@floodgate/database';
import { sql, type SqlBool } from 'kysely';
import { generateLoad } from '@floodgate/rehearsal/load/generate';
import { NUMBER, type Load, type RequestLog } from '@floodgate/rehearsal/load/load';
import { countCodes, dueIn, latencies, type Span } from '../load/read-log.ts';
import { account, readStored } from '../outages.ts';
import type { Progress } from '../progress.ts';
import { quantile } from '../report/statistics.ts';
import type { Citus, NodeStop } from '../results.ts';
import type { Servers } from '../servers.ts';
import type { Engine } from './citus.ts';
import type { CitusCluster } from './cluster.ts';
import { drain, readFault, startSite } from './site.ts';

const SECONDS = { warmUp: 3, before: 12, away: 10, after: 8 };
/** Start of a load that is not counted, because each request opens a connection. */
const SETTLING_MS = 8_000;
/** Connections to each API, enough while requests for the stopped server wait for their answers. */
const PARTNERS = 1_500;
const OVERHEAD_SECONDS = 20;

export const NODE_STOPS_SECONDS = Object.values(SECONDS).reduce((sum, one) => sum + one, OVERHEAD_SECONDS);

/** The requests of a generator, by number. */
interface Sent {
  log: RequestLog;
  /** Whether a request is for the stopped server, by number, cyclic. */
  isOnDead: boolean[];
}

/**
 * Crashes one of the servers with shards under an open-loop load that is even over all events. Returns nothing if no server can be
 * crashed.
 */
export async function nodeStops(
  servers: Servers,
  cluster: CitusCluster,
  engine: Engine,
  perSecond: number,
  { progress, signal }: { progress: Progress; signal: AbortSignal },
): Promise<Pick<Citus, 'nodeStop'>> {
  if (!cluster.killWorker || !cluster.startWorker) return {};
  progress.say('one of the servers crashes');
  await servers.emptyRedis();
  const { db, url } = engine.database;
  const site = await startSite(url, engine.entries, servers.redisUrl);
  try {
    const names = site.baseUrls.map((_, index) => `node-stop ${index}`);
    const loads = site.baseUrls.map((baseUrl, index): Load => ({
      baseUrl,
      requests: engine.requests.map(({ body, ...request }) => ({
        ...request,
        body: JSON.stringify({ ...JSON.parse(body!), extraData1: NUMBER, extraData2: names[index] }),
      })),
      connections: PARTNERS,
      seconds: SECONDS.warmUp,
    }));
    await Promise.all(
      loads.map((load) => generateLoad({ ...load, requests: engine.requests, connections: 256 })),
    );
    await drain(db);
    const seconds = SECONDS.before + SECONDS.away + SECONDS.after;
    const phases = [{ seconds, perSecond: perSecond / loads.length }];
    const running = Promise.all(loads.map((load) => generateLoad({ ...load, phases, logged: true })));
    const port = await interrupt(cluster, signal);
    const logs = (await running).map(({ log }) => log!);
    await drain(db);
    const isOnDead = await readIsOnDead(db, engine, port);
    const accounts = await Promise.all(
      logs.map(async (log, index) =>
        account(log, await readStored(db, sql<SqlBool>`extra_data_2 = ${names[index]!}`)),
      ),
    );
    return {
      nodeStop: {
        perSecond,
        seconds: SECONDS.away,
        ...readLogs(logs.map((log) => ({ log, isOnDead }))),
        lost: accounts.reduce((sum, { lost }) => sum + lost, 0),
        doubled: accounts.reduce((sum, { doubled }) => sum + doubled, 0),
        fault: await readFault(db),
      },
    };
  } finally {
    await site.stop();
  }
}

/** Stops a server for some time. Resolves with its port. */
async function interrupt(cluster: CitusCluster, signal: AbortSignal): Promise<number> {
  await delay(SECONDS.before * 1000, undefined, { signal });
  try {
    const port = await cluster.killWorker!();
    await delay(SECONDS.away * 1000, undefined, { signal });
    return port;
  } finally {
    await cluster.startWorker!();
  }
}

/** Returns for each request whether its event is on the server of this port. */
async function readIsOnDead(db: Database, { events }: Engine, port: number): Promise<boolean[]> {
  const { rows } = await sql<{ shardId: number; port: number }>`
    select shard.id as "shardId", nodeport as port
    from unnest(${events.map(({ shardId }) => shardId)}::integer[]) as shard (id)
    join pg_dist_placement on shardid = get_shard_id_for_distribution_column('tickets', shard.id)
    join pg_dist_node using (groupid)`.execute(db);
  const ports = new Map(rows.map((row) => [row.shardId, row.port]));
  return events.map(({ shardId }) => ports.get(shardId) === port);
}

export function readLogs(sent: readonly Sent[]): Pick<NodeStop, 'living' | 'deadAnswers' | 'deadP99Ms'> {
  const [kill, back] = [SECONDS.before * 1000, (SECONDS.before + SECONDS.away) * 1000];
  const ofDead = (one: Sent, span: Span, isDead: boolean) =>
    dueIn(one.log, span).filter((number) => one.isOnDead[number % one.isOnDead.length] === isDead);
  const living = (span: Span) => {
    const codes = sent.map((one) => countCodes(one.log, ofDead(one, span, false)));
    const waits = sent.flatMap((one) => latencies(one.log, ofDead(one, span, false)));
    return {
      perSecond: sumOf(codes)['00']! / ((span.to - span.from) / 1000),
      answers: sumOf(codes),
      p99Ms: quantile(waits, 0.99),
    };
  };
  const away = { from: kill, to: back };
  const dead = sent.map((one) => ofDead(one, away, true));
  return {
    living: { before: living({ from: SETTLING_MS, to: kill }), away: living(away) },
    deadAnswers: sumOf(sent.map(({ log }, index) => countCodes(log, dead[index]!))),
    deadP99Ms: quantile(
      sent.flatMap(({ log }, index) => latencies(log, dead[index]!)),
      0.99,
    ),
  };
}

function sumOf(counts: readonly Record<string, number>[]): Record<string, number> {
  const all: Record<string, number> = { '00': 0 };
  for (const one of counts)
    for (const [code, count] of Object.entries(one)) all[code] = (all[code] ?? 0) + count;
  return all;
}
