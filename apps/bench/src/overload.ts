import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import { createFixture } from '@floodgate/test/harness/fixture.ts';
import type { RunningContender } from './contenders/contender.ts';
import { startFloodgate } from './contenders/floodgate.ts';
import { generateLoad } from '@floodgate/rehearsal/load/generate';
import { answersOf, OK, type Load, type LoadResult, type RequestLog } from '@floodgate/rehearsal/load/load';
import { countCodes, dueIn, latencies, rateIn, secondsUntilUsual, type Span } from './load/read-log.ts';
import { finalizeAll } from './measure.ts';
import { MemoryWatch } from './memory-watch.ts';
import type { Progress } from './progress.ts';
import { quantile } from './report/statistics.ts';
import type { Overload } from './results.ts';
import type { Servers } from './servers.ts';
import { registerRequest } from './workloads.ts';

const OVERLOAD = 3;
/** Load before and after the overload, as a share of the peak. */
const NORMAL = 0.5;
const SECONDS = { warmUp: 3, peak: 5, before: 5, overload: 10, after: 5 };
/** Enough for full groups while others are answered. */
const PEAK_CONNECTIONS = 1_000;
/** Connections of partners: more than can wait or run at once, so that the others are refused. */
const PARTNERS = 10_000;
/** How long a partner's request waits for a connection. After that, its caller has left. */
const PATIENCE_MS = 1_000;
const GREETING = { method: 'GET', path: '/health/live', headers: {} } as const;
/**
 * With Postgres's longest commit_delay and this number of registrations per commit, the peak is about 2,300/s. Two cores then suffice to
 * send and refuse three times as many requests.
 */
const SLOW_COMMIT_MICROS = 100_000;
const SLOW_BATCH_LIMIT = '250';
/** Time until the queue is full. */
const FILLING_MS = 2_000;
const OVERHEAD_SECONDS = 15;

const BOTTLENECKS = ['Postgres', 'CPU'] as const;

export const OVERLOAD_SECONDS =
  BOTTLENECKS.length * (Object.values(SECONDS).reduce((sum, seconds) => sum + seconds) + OVERHEAD_SECONDS);

/**
 * Offers three times the service's peak. First with commits of 100 ms: then Postgres is the bottleneck, and not the machine that generator
 * and service share. Then with the full speed of the machine.
 */
export async function overloads(
  servers: Servers,
  progress: Progress,
  signal: AbortSignal,
): Promise<Overload[]> {
  const results: Overload[] = [];
  for (const bottleneck of BOTTLENECKS) {
    signal.throwIfAborted();
    progress.say(`overload, bottleneck ${bottleneck}`);
    results.push(await overload(servers, bottleneck));
    progress.add(OVERLOAD_SECONDS / BOTTLENECKS.length);
  }
  return results;
}

async function overload(servers: Servers, bottleneck: Overload['bottleneck']): Promise<Overload> {
  await using database = await servers.openDatabase();
  await servers.emptyRedis();
  if (bottleneck === 'Postgres') await slowCommits(database.db);
  const requests = [await registerRequest(await createFixture(database.db))];
  const running = await startFloodgate(
    { databaseUrl: database.url, redisUrl: servers.redisUrl, db: database.db },
    bottleneck === 'Postgres' ? { BATCH_LIMIT: SLOW_BATCH_LIMIT } : {},
  );
  try {
    const common = { baseUrl: running.baseUrl, requests };
    const peakPerSecond = await findPeak(common);
    await finalizeAll(running);
    const registeredBefore = (await running.books!.read()).registered;
    const memory = new MemoryWatch(running.pids.api!);
    const phases = [
      { seconds: SECONDS.before, perSecond: NORMAL * peakPerSecond },
      { seconds: SECONDS.overload, perSecond: OVERLOAD * peakPerSecond },
      { seconds: SECONDS.after, perSecond: NORMAL * peakPerSecond },
    ];
    const load: Load = {
      ...common,
      connections: PARTNERS,
      greeting: GREETING,
      patienceMs: PATIENCE_MS,
      seconds: 0,
      phases,
      logged: true,
    };
    const result = await generateLoad(load);
    const apiMiB = await memory.stop();
    return {
      bottleneck,
      peakPerSecond,
      ...readOverload(result.log!),
      apiMiB,
      generatorCores: result.cpuMicros / 1e6 / result.seconds,
      fault: await findFault(running, result, registeredBefore),
    };
  } finally {
    await running.stop();
  }
}

/** Makes commits slow, for new connections. */
export async function slowCommits(db: Database): Promise<void> {
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(db);
  const name = sql.id(rows[0]!.name);
  await sql`alter database ${name} set commit_delay = ${sql.lit(SLOW_COMMIT_MICROS)}`.execute(db);
  await sql`alter database ${name} set commit_siblings = 0`.execute(db);
}

async function findPeak(common: Pick<Load, 'baseUrl' | 'requests'>): Promise<number> {
  const closed = { ...common, connections: PEAK_CONNECTIONS };
  await generateLoad({ ...closed, seconds: SECONDS.warmUp });
  const result = await generateLoad({ ...closed, seconds: SECONDS.peak });
  return answersOf(result, OK) / result.seconds;
}

function readOverload(log: RequestLog) {
  const [start, end] = [SECONDS.before * 1000, (SECONDS.before + SECONDS.overload) * 1000];
  const before: Span = { from: start / 2, to: start };
  const full: Span = { from: start + FILLING_MS, to: end };
  const after: Span = { from: end, to: end + SECONDS.after * 1000 };
  const usualMs = quantile(latencies(log, dueIn(log, before)), 0.99);
  const numbers = dueIn(log, { from: start, to: end });
  const refused = latencies(log, numbers, '90');
  const accepted = latencies(log, numbers, '00');
  const sent = numbers.filter((number) => log.code[number] !== 'gone');
  const sendLags = sent.map((number) => log.sentAt[number]! - log.dueAt[number]!);
  return {
    offeredPerSecond: rateIn(log, 'dueAt', full),
    sentPerSecond: rateIn(log, 'sentAt', full),
    acceptedPerSecond: rateIn(log, 'answeredAt', full, '00'),
    sendLagP99Ms: quantile(sendLags, 0.99),
    acceptedMs: { p50: quantile(accepted, 0.5), p99: quantile(accepted, 0.99) },
    refusedMs: { p50: quantile(refused, 0.5), p99: quantile(refused, 0.99) },
    answers: countCodes(log, numbers),
    refusedWithoutRetryAfter: log.code.filter((code, number) => code === '90' && log.detail[number] === '')
      .length,
    recoverySeconds: secondsUntilUsual(log, after, usualMs),
  };
}

/** Returns a fault unless every "00" is stored, and otherwise only requests with an unknown outcome. */
async function findFault(
  running: RunningContender,
  { log }: LoadResult,
  registeredBefore: number,
): Promise<string> {
  if (!(await finalizeAll(running))) return 'not everything was finalized';
  const books = await running.books!.read();
  if (books.wrongTickets > 0) return `${books.wrongTickets} tickets oversold or miscounted`;
  const stored = books.registered - registeredBefore;
  const of = (...codes: string[]) => log!.code.filter((code) => codes.includes(code)).length;
  const accepted = of('00');
  const isWithin = stored >= accepted && stored <= accepted + of('91', 'cut', 'none');
  return isWithin ? '' : `${accepted} were accepted, but ${stored} are stored`;
}
