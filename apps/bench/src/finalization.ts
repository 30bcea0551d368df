import type { Database } from '@floodgate/database';
import { reconcile } from '@floodgate/registrations';
import { sql } from 'kysely';
import { createFixture } from '@floodgate/test/harness/fixture.ts';
import { startFloodgate } from './contenders/floodgate.ts';
import type { RunningContender } from './contenders/contender.ts';
import { generateLoad } from '@floodgate/rehearsal/load/generate';
import type { LoadResult, RequestShape } from '@floodgate/rehearsal/load/load';
import { createManyEvents } from './many-events.ts';
import { finalizeAll, findFault } from './measure.ts';
import { Meter, perAnswer } from './meter.ts';
import type { Progress } from './progress.ts';
import type { Finalization } from './results.ts';
import type { Servers } from './servers.ts';
import { hotTicket, manyTickets } from './workloads.ts';

export interface FinalizationOptions {
  /** Length of each of the two loads. */
  seconds: number;
  rounds: number;
}

interface Case {
  name: string;
  prepare(db: Database): Promise<RequestShape[]>;
}

const eventsOf = (events: number, partners: number) => async (db: Database) =>
  (await createManyEvents(db, { events, partners })).requests;

const CASES: readonly Case[] = [
  ...[hotTicket(128), manyTickets].map(({ name, prepare }) => ({
    name,
    prepare: async (db: Database) => (await prepare(await createFixture(db), 0, 0)).requests,
  })),
  { name: '1,000 events', prepare: eventsOf(1_000, 1) },
  { name: '1,000 events × 10 partners', prepare: eventsOf(1_000, 10) },
];

const CONNECTIONS = 128;
const WARM_UP_SECONDS = 2;
const OVERHEAD_SECONDS = 10;
/** Longer than a run, so that batches that wait for their worker are not overdue. */
const NO_RELAY = { RELAY_INTERVAL_MS: '60000' };

const secondsOfCase = ({ seconds }: FinalizationOptions) => WARM_UP_SECONDS + 2 * seconds + OVERHEAD_SECONDS;

export const finalizationSeconds = (options: FinalizationOptions): number =>
  CASES.length * options.rounds * secondsOfCase(options);

/**
 * Measures the cost of finalization. Worker and Redis do nothing else, so their cost is their CPU time under full load. For Postgres, a
 * second load is finalized only after it has ended, and Postgres's CPU time in that phase is finalization's share.
 */
export async function finalizations(
  servers: Servers,
  options: FinalizationOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<Finalization[]> {
  const results: Finalization[] = [];
  for (let round = 1; round <= options.rounds; round += 1)
    for (const one of round % 2 === 1 ? CASES : CASES.toReversed()) {
      signal.throwIfAborted();
      progress.say(`finalization, ${one.name}, round ${round}`);
      results.push({ load: one.name, round, ...(await finalization(servers, one, options.seconds)) });
      progress.add(secondsOfCase(options));
    }
  return results;
}

async function finalization(
  servers: Servers,
  one: Case,
  seconds: number,
): Promise<Omit<Finalization, 'load' | 'round'>> {
  await using database = await servers.openDatabase();
  await servers.emptyRedis();
  const { url: databaseUrl, db } = database;
  const requests = await one.prepare(db);
  const running = await startFloodgate({ databaseUrl, redisUrl: servers.redisUrl, db }, {}, NO_RELAY);
  const meter = new Meter({ ...servers.pids, ...running.pids });
  const load = (length: number) =>
    generateLoad({ baseUrl: running.baseUrl, requests, connections: CONNECTIONS, seconds: length });
  try {
    await load(WARM_UP_SECONDS);
    await finalizeAll(running);
    await servers.checkpoint();
    const live = await meterWork(running, meter, () => load(seconds));
    const worker = running.pids.worker!;
    let held: Loaded;
    let fromPending: Awaited<ReturnType<Meter['cpuMicros']>>;
    process.kill(worker, 'SIGSTOP');
    try {
      const before = await readRegistered(running);
      const result = await load(seconds);
      held = { result, registered: (await readRegistered(running)) - before, isFinalized: true };
      // Writes that the load has left are not part of finalization.
      await servers.checkpoint();
      fromPending = await meter.cpuMicros();
    } finally {
      process.kill(worker, 'SIGCONT');
    }
    held.isFinalized = await finalizeAll(running);
    const drained = perAnswer(fromPending, await meter.cpuMicros(), held.registered);
    return {
      perSecond: live.registered / live.result.seconds,
      registered: held.registered,
      underLoad: pick(live.cpuMicros, ['worker', 'redis']),
      drained: pick(drained, ['worker', 'redis', 'postgres']),
      ...(await readSegments(db, running)),
      fault: faultOf(live) ?? faultOf(held) ?? (await readDifferences(db)),
    };
  } finally {
    await running.stop();
  }
}

interface Loaded {
  result: LoadResult;
  registered: number;
  isFinalized: boolean;
}

async function meterWork(running: RunningContender, meter: Meter, load: () => Promise<LoadResult>) {
  const registeredBefore = await readRegistered(running);
  const before = await meter.cpuMicros();
  const result = await load();
  const isFinalized = await finalizeAll(running);
  const after = await meter.cpuMicros();
  const registered = (await readRegistered(running)) - registeredBefore;
  return { result, registered, isFinalized, cpuMicros: perAnswer(before, after, registered) };
}

const readRegistered = async ({ books }: RunningContender) => (await books!.read()).registered;

function pick<Key extends string>(figures: Partial<Record<Key, number>>, keys: readonly Key[]) {
  return Object.fromEntries(keys.map((key) => [key, figures[key] ?? Number.NaN])) as Record<Key, number>;
}

function faultOf({ result, registered, isFinalized }: Loaded): string | undefined {
  const books = { registered, pending: 0, wrongTickets: 0 };
  return findFault(books, result, { answers: 'registered' }, isFinalized);
}

async function readDifferences(db: Database): Promise<string> {
  const [first] = await reconcile(db);
  return first ? `${first.subject} ${first.problem}` : '';
}

/** Reads the segments of all registrations in the run. */
async function readSegments(db: Database, running: RunningContender) {
  const registered = await readRegistered(running);
  const { rows } = await sql<{ count: number; bytes: number }>`
    select count(*) as count, pg_total_relation_size('journal_segments') as bytes
    from journal_segments`.execute(db);
  const { count, bytes } = rows[0]!;
  return { segments: count / registered, journalBytes: bytes / registered };
}
