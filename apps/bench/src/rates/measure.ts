import type { Database } from '@floodgate/database';
import { generateLoad } from '@floodgate/rehearsal/load/generate';
import { answersOf, OK, type Load, type LoadResult } from '@floodgate/rehearsal/load/load';
import { sql } from 'kysely';
import type { Contender, RunningContender } from '../contenders/contender.ts';
import { Meter, usedBetween, type ByPart } from '../meter.ts';
import { rejectOn, type Bench } from '../mode.ts';
import { createRunFixture } from '../stored/many-events.ts';
import { finalizeAll, findFault, SOLD_OUT } from './books.ts';
import type { Workload } from './workloads.ts';

/** What a run of a contender under a workload has measured. */
export interface Run {
  /**
   * Accepted registrations per second until the last one was finalized. If nothing is registered: answers per
   * second.
   */
  perSecond: number;
  /** Expected answers per second, including "sold out", times the workload's size. */
  answersPerSecond: number;
  /** From the send to the answer. In an open loop from the scheduled arrival. */
  latencyMs: LoadResult['latencyMs'];
  /** Time from the commit to the finalization, the 99th percentile. Undefined if nothing is registered. */
  finalizedP99Ms: number | undefined;
  /** Share of answers other than "00". */
  refusedShare: number;
  /** CPU time of each part, load and finalization, together and per expected answer. */
  cpuMicros: ByPart;
  cpuMicrosEach: ByPart;
  /** CPU time of the load generator per expected answer. */
  generatorMicrosEach: number;
  /** Resident memory at the end of the load. */
  residentMiB: ByPart;
  /** Bytes that Postgres wrote per registration: to the database with indexes, and to the write-ahead log. */
  databaseBytes: number | undefined;
  logBytes: number | undefined;
}

export interface Opening {
  contender: Contender;
  workload: Workload;
  seconds: number;
  warmUpSeconds: number;
  /** The contender's rate with one hot ticket, for workloads that need it. */
  peak: number;
  /** Number of the Redis database. Absent: the first. */
  redisDatabase?: number;
}

/** A running contender after its warm-up. */
export interface Opened extends AsyncDisposable {
  /** Measures it under its workload for the opened time. Throws if the run does not count. */
  measure(): Promise<Run>;
}

/** Starts a contender on a database of its own and warms it up. */
export async function open({ servers, signal }: Bench, opening: Opening): Promise<Opened> {
  signal.throwIfAborted();
  const { contender, workload, seconds, peak, redisDatabase } = opening;
  await using stack = new AsyncDisposableStack();
  const { url: databaseUrl, db } = stack.use(await servers.openDatabase(contender));
  const fixture = await (contender.fixture ?? createRunFixture)(db);
  const warmUpRequests = await workload.prepare(fixture);
  const requests = (await workload.prepareMeasured?.(fixture, peak * seconds)) ?? warmUpRequests;
  const redisUrl = redisDatabase === undefined ? servers.redisUrl : `${servers.redisUrl}/${redisDatabase}`;
  const running = await contender.start({ databaseUrl, redisUrl, db });
  stack.defer(() => running.stop());
  const generate = running.generate ?? workload.generate ?? generateLoad;
  const common = { baseUrl: running.baseUrl, connections: workload.connections };
  const warmUp = async () => {
    // Full load, whatever the workload: it is about compiled code.
    await generate({ ...common, requests: warmUpRequests, seconds: opening.warmUpSeconds });
    await finalizeAll(running.books);
    await servers.checkpoint();
  };
  await Promise.race([warmUp(), rejectOn(signal)]);
  const meter = new Meter({ ...servers.pids, ...running.pids });
  const load: Load = { ...common, requests, seconds, ...paceOf(workload, peak) };
  const owned = stack.move();
  return {
    measure: () =>
      Promise.race([measure(running, workload, () => generate(load), { meter, db }), rejectOn(signal)]),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function paceOf({ arrivalsPerSecond, shareOfPeak }: Workload, peak: number): Pick<Load, 'arrivalsPerSecond'> {
  if (shareOfPeak !== undefined) return { arrivalsPerSecond: Math.max(1, Math.round(peak * shareOfPeak)) };
  return arrivalsPerSecond === undefined ? {} : { arrivalsPerSecond };
}

async function measure(
  { books: keeper }: RunningContender,
  workload: Workload,
  generate: () => Promise<LoadResult>,
  { meter, db }: { meter: Meter; db: Database },
): Promise<Run> {
  const registeredBefore = (await keeper?.read())?.registered ?? 0;
  const diskBefore = await readDiskBytes(db);
  const startedAt = new Date();
  const cpuBefore = await meter.cpuMicros();
  const result = await generate();
  const residentMiB = await meter.residentMiB();
  await finalizeAll(keeper);
  const cpuMicros = usedBetween(cpuBefore, await meter.cpuMicros());
  const diskAfter = await readDiskBytes(db);
  const books = await keeper?.read();
  const finalization = await keeper?.readFinalization(startedAt);
  const registered = (books?.registered ?? 0) - registeredBefore;
  const fault = findFault(result, workload, books, registered);
  if (fault) throw new Error(fault);
  const { size = 1 } = workload;
  const accepted = answersOf(result, OK) * size;
  const served = accepted + answersOf(result, SOLD_OUT);
  const each = <Value>(value: Value) => (registered > 0 ? value : undefined);
  return {
    perSecond:
      finalizedPerSecond(workload, result, registered, finalization?.lastFinishedAt) ??
      served / result.seconds,
    answersPerSecond: served / result.seconds,
    latencyMs: result.latencyMs,
    finalizedP99Ms: finalization?.p99Ms,
    refusedShare: 1 - accepted / served,
    cpuMicros,
    cpuMicrosEach: Object.fromEntries(
      Object.entries(cpuMicros).map(([part, micros]) => [part, micros / served]),
    ),
    generatorMicrosEach: result.cpuMicros / served,
    residentMiB,
    databaseBytes: each((diskAfter.database - diskBefore.database) / registered),
    logBytes: each((diskAfter.log - diskBefore.log) / registered),
  };
}

/** Returns undefined if answers are counted. */
function finalizedPerSecond(
  { books }: Workload,
  { seconds, endedAt }: LoadResult,
  registered: number,
  lastFinishedAt: Date | null | undefined,
): number | undefined {
  if (books !== 'stored' || registered === 0) return undefined;
  const drainSeconds = Math.max(0, ((lastFinishedAt?.getTime() ?? 0) - endedAt) / 1_000);
  return registered / (seconds + drainSeconds);
}

interface DiskBytes {
  database: number;
  log: number;
}

async function readDiskBytes(db: Database): Promise<DiskBytes> {
  const { rows } = await sql<DiskBytes>`
    select pg_database_size(current_database()) as database,
      pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as log`.execute(db);
  return rows[0]!;
}
