import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import { createFixture } from '@floodgate/test/harness/fixture.ts';
import type { Books, Contender, RunningContender } from './contenders/contender.ts';
import { generateLoad } from '@floodgate/rehearsal/load/generate';
import { answersOf, OK, totalAnswers, type LoadResult } from '@floodgate/rehearsal/load/load';
import { Meter, perAnswer } from './meter.ts';
import type { Run } from './results.ts';
import type { Servers } from './servers.ts';
import type { Workload } from './workloads.ts';

export interface Measurement extends Opening {
  round: number;
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
  /** Measures it under its workload for the opened time, and checks its books afterwards. */
  measure(round: number): Promise<Run>;
}

const DRAIN_LIMIT_MS = 120_000;
/** Each poll uses time of Postgres. */
const DRAIN_POLL_MS = 250;
const SOLD_OUT = '409';

/**
 * Starts a contender, measures it under one workload, checks its books and stops it. After an abort of `signal` it stops everything and
 * rejects.
 */
export async function measure(servers: Servers, measurement: Measurement, signal: AbortSignal): Promise<Run> {
  await servers.emptyRedis();
  await using opened = await open(servers, measurement, signal);
  return await opened.measure(measurement.round);
}

/** Starts a contender on a separate database and warms it up. After an abort of `signal` it stops everything and rejects. */
export async function open(servers: Servers, opening: Opening, signal: AbortSignal): Promise<Opened> {
  signal.throwIfAborted();
  const { contender, workload, seconds, redisDatabase } = opening;
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await servers.openDatabase(contender));
  const fixture = await (contender.fixture ?? createFixture)(database.db);
  const prepared = await workload.prepare(fixture, opening.peak, seconds);
  const { url: databaseUrl, db } = database;
  const redisUrl = redisDatabase === undefined ? servers.redisUrl : `${servers.redisUrl}/${redisDatabase}`;
  const running = await contender.start({ databaseUrl, redisUrl, db });
  stack.defer(() => running.stop());
  const generate = running.generate?.bind(running) ?? generateLoad;
  const { arrivalsPerSecond: _, warmUp: requests, ...closed } = prepared;
  const common = { baseUrl: running.baseUrl, connections: workload.connections };
  const warmUp = async () => {
    // Full load, whatever the workload: the measurement is about compiled code.
    await generate({ ...common, ...closed, requests, seconds: opening.warmUpSeconds });
    await finalizeAll(running);
    await servers.checkpoint();
  };
  await Promise.race([warmUp(), rejectOn(signal)]);
  const meter = new Meter({ ...servers.pids, ...running.pids });
  const load = () => generate({ ...common, ...prepared, seconds });
  const owned = stack.move();
  return {
    measure: (round) =>
      Promise.race([measureLoad(running, load, { meter, db }, { ...opening, round }), rejectOn(signal)]),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function rejectOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
  );
}

async function measureLoad(
  running: RunningContender,
  generate: () => Promise<LoadResult>,
  { meter, db }: { meter: Meter; db: Database },
  { contender, workload, round }: Measurement,
): Promise<Run> {
  const registeredBefore = (await running.books?.read())?.registered ?? 0;
  const diskBefore = await readDiskBytes(db);
  const startedAt = new Date();
  const cpuBefore = await meter.cpuMicros();
  const result = await generate();
  const residentMiBs = await meter.residentMiB();
  const isFinalized = await finalizeAll(running);
  const cpuAfter = await meter.cpuMicros();
  const diskAfter = await readDiskBytes(db);
  const books = await running.books?.read();
  const finalization = await running.books?.readFinalization(startedAt, [0.5, 0.99]);
  const accepted = answersOf(result, OK);
  const registered = (books?.registered ?? 0) - registeredBefore;
  const lastFinishedAt = finalization?.lastFinishedAt?.getTime() ?? 0;
  const drainSeconds = Math.max(0, (lastFinishedAt - result.endedAt) / 1000);
  const discarded = findFault(books && { ...books, registered }, result, workload, isFinalized);
  const served = accepted + answersOf(result, SOLD_OUT);
  const [p50 = Number.NaN, p99 = Number.NaN] = finalization?.waitsMs ?? [];
  return {
    contender: contender.name,
    workload: workload.name,
    connections: workload.connections,
    round,
    ...(discarded && { discarded }),
    seconds: result.seconds,
    accepted,
    refused: Object.fromEntries(Object.entries(result.answers).filter(([status]) => status !== OK)),
    acceptedPerSecond: served / result.seconds,
    ...(books &&
      workload.counts === 'finalized registrations' && {
        finalizedPerSecond: registered / (result.seconds + drainSeconds),
      }),
    ...(registered > 0 && { drainSeconds, waitMs: { p50, p99 } }),
    latencyMs: result.latencyMs,
    cpuMicros: perAnswer(cpuBefore, cpuAfter, served),
    generatorCpuMicros: result.cpuMicros / served,
    residentMiB: residentMiBs,
    ...(registered > 0 && {
      diskBytes: {
        database: (diskAfter.database - diskBefore.database) / registered,
        log: (diskAfter.log - diskBefore.log) / registered,
      },
    }),
  };
}

async function readDiskBytes(db: Database): Promise<{ database: number; log: number }> {
  const { rows } = await sql<{ database: number; log: number }>`
    select pg_database_size(current_database()) as database,
      pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as log`.execute(db);
  return rows[0]!;
}

/** Waits until everything is finalized. Returns whether that happened. The books have the exact time. */
export async function finalizeAll({ books }: RunningContender): Promise<boolean> {
  if (!books) return true;
  for (const giveUpAt = performance.now() + DRAIN_LIMIT_MS; performance.now() < giveUpAt;) {
    if (await books.isFinalized()) return true;
    await delay(DRAIN_POLL_MS);
  }
  return false;
}

/** Returns why a run does not count, or undefined if all answers were expected and the books balance. */
export function findFault(
  books: Books | undefined,
  result: Pick<LoadResult, 'answers'>,
  { answers }: Pick<Workload, 'answers'>,
  isFinalized: boolean,
): string | undefined {
  const foreseen = answersOf(result, OK) + (answers === 'may be sold out' ? answersOf(result, SOLD_OUT) : 0);
  const unforeseen = totalAnswers(result) - foreseen;
  if (unforeseen > 0) return `${unforeseen} requests failed: ${JSON.stringify(result.answers)}`;
  if (!books) return undefined;
  if (!isFinalized || books.pending > 0) return `${books.pending} registrations were not finalized`;
  if (books.wrongTickets > 0) return `${books.wrongTickets} tickets oversold or miscounted`;
  const accepted = answersOf(result, OK);
  if (answers !== 'not only registrations' && books.registered !== accepted)
    return `${accepted} were accepted, but ${books.registered} are stored`;
  return undefined;
}
