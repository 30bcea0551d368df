import { setTimeout as delay } from 'node:timers/promises';
import { createFixture } from '../harness/fixture.ts';
import type { Contender, RunningContender } from './contenders/contender.ts';
import { generateLoad } from './load/generate.ts';
import { answersOf, OK, totalAnswers, type LoadResult } from './load/load.ts';
import { Meter, perAnswer } from './meter.ts';
import type { Run } from './results.ts';
import type { Servers } from './servers.ts';
import type { Workload } from './workloads.ts';

export interface Measurement {
  contender: Contender;
  workload: Workload;
  round: number;
  seconds: number;
  warmUpSeconds: number;
  /** The contender's own rate with one hot ticket, for workloads that need it. */
  peak: number;
}

const DRAIN_LIMIT_MS = 120_000;
/** Looking costs Postgres something, so not too often. */
const DRAIN_POLL_MS = 250;
const SOLD_OUT = '409';

/** Measures one contender under one workload, from start to stop, and checks its books afterwards. */
export async function measure(servers: Servers, measurement: Measurement): Promise<Run> {
  const { contender, workload, seconds } = measurement;
  await using database = await servers.openDatabase(contender.database);
  await servers.settle();
  const fixture = await createFixture(database.db);
  const prepared = await workload.prepare(fixture, measurement.peak, seconds);
  const { url: databaseUrl, db } = database;
  const running = await contender.start({ databaseUrl, redisUrl: servers.redisUrl, db });
  try {
    const generate = running.generate?.bind(running) ?? generateLoad;
    const load = { ...prepared, baseUrl: running.baseUrl, connections: workload.connections, seconds };
    await generate({ ...load, requests: prepared.warmUp, seconds: measurement.warmUpSeconds });
    await finalizeAll(running);
    await servers.settle();
    const meter = new Meter({ ...servers.pids, ...running.pids });
    return await measureLoad(running, () => generate(load), meter, measurement);
  } finally {
    await running.stop();
  }
}

async function measureLoad(
  running: RunningContender,
  generate: () => Promise<LoadResult>,
  meter: Meter,
  { contender, workload, round }: Measurement,
): Promise<Run> {
  const registeredBefore = (await running.books?.read())?.registered ?? 0;
  const startedAt = new Date();
  const cpuBefore = await meter.cpuMicros();
  const result = await generate();
  const endedAt = Date.now();
  const residentMiBs = await meter.residentMiB();
  const isFinalized = await finalizeAll(running);
  const cpuAfter = await meter.cpuMicros();
  const books = await running.books?.read();
  const finalization = await running.books?.readFinalization(startedAt, [0.5, 0.99]);
  const accepted = answersOf(result, OK);
  const registered = (books?.registered ?? 0) - registeredBefore;
  const drainSeconds = Math.max(0, ((finalization?.lastFinishedAt?.getTime() ?? 0) - endedAt) / 1000);
  const discarded = books && fault({ ...books, registered }, result, workload, isFinalized);
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
  };
}

/** Waits until everything is finalized; answers whether that happened. How long it took, the books tell exactly. */
async function finalizeAll({ books }: RunningContender): Promise<boolean> {
  if (!books) return true;
  for (const giveUpAt = performance.now() + DRAIN_LIMIT_MS; performance.now() < giveUpAt;) {
    if (await books.isFinalized()) return true;
    await delay(DRAIN_POLL_MS);
  }
  return false;
}

/** Why a run does not count; undefined where its books balance. */
function fault(
  books: { registered: number; pending: number; wrongTickets: number },
  result: LoadResult,
  { counts, name }: Workload,
  isFinalized: boolean,
): string | undefined {
  if (!isFinalized) return `${books.pending} registrations were never finalized`;
  if (books.wrongTickets > 0) return `${books.wrongTickets} tickets oversold or miscounted`;
  const unforeseen = totalAnswers(result) - answersOf(result, OK) - answersOf(result, SOLD_OUT);
  if (unforeseen > 0) return `${unforeseen} requests failed: ${JSON.stringify(result.answers)}`;
  if (counts === 'finalized registrations' && books.registered !== answersOf(result, OK))
    return `${answersOf(result, OK)} were accepted, but ${books.registered} are stored (${name})`;
  return undefined;
}
