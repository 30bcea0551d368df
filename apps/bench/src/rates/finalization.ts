import type { Database } from '@floodgate/database';
import { generateLoad } from '@floodgate/rehearsal/load/generate';
import type { LoadResult, RequestShape } from '@floodgate/rehearsal/load/load';
import { sql } from 'kysely';
import { openFloodgate, type OpenFloodgate } from '../contenders/floodgate.ts';
import { Meter, usedBetween, type ByPart } from '../meter.ts';
import { attempt, inTurn, type Bench, type Mode, type Settings } from '../mode.ts';
import { atMost, type Values } from '../report/results.ts';
import { createManyEvents, createRunFixture } from '../stored/many-events.ts';
import { assertReconciled, finalizeAll, findFault } from './books.ts';
import { hotTicket, manyTickets, type Workload } from './workloads.ts';

interface Case {
  name: string;
  prepare(db: Database): Promise<RequestShape[]>;
}

const caseOf = ({ name, prepare }: Workload): Case => ({
  name,
  prepare: async (db) => prepare(await createRunFixture(db)),
});

const eventsOf = (name: string, events: number, partners: number): Case => ({
  name,
  prepare: async (db) => (await createManyEvents(db, { events, partners })).requests,
});

const CASES: readonly Case[] = [
  caseOf(hotTicket(128)),
  caseOf(manyTickets),
  eventsOf('1,000 events', 1_000, 1),
  eventsOf('1,000 events × 10 partners', 1_000, 10),
];

const CONNECTIONS = 128;
const WARM_UP_SECONDS = 2;
const OVERHEAD_SECONDS = 10;
/** Longer than a run, so that batches that wait for their worker are not overdue. */
const NO_RELAY = { RELAY_INTERVAL_MS: '60000' };

const secondsOfCase = ({ seconds }: Settings): number => WARM_UP_SECONDS + 2 * seconds + OVERHEAD_SECONDS;

/**
 * Measures the cost of finalization. Worker and Redis do nothing else, so their cost is their CPU time under
 * full load. For Postgres, a second load is finalized only after it has ended, and its CPU time in that phase
 * is the cost.
 */
export const FINALIZATION: Mode = {
  name: 'finalization',
  help: 'what finalization costs with one ticket, 100 tickets, 1,000 events',
  usual: { pairs: 3, seconds: 6 },
  duration: (settings) => CASES.length * settings.pairs * secondsOfCase(settings),
  measure: async (bench, settings) => {
    for (let round = 1; round <= settings.pairs; round += 1)
      for (const one of inTurn(CASES, round)) {
        const values = await attempt(bench, `finalization, ${one.name}, round ${round}`, () =>
          measureCase(bench, one, settings.seconds),
        );
        const table = 'Finalization: CPU time, segments and their bytes per registration';
        if (values) bench.results.add(table, one.name, values, { 'all µs': atMost(3) });
        bench.progress.add(secondsOfCase(settings));
      }
  },
};

async function measureCase({ servers }: Bench, one: Case, seconds: number): Promise<Values> {
  await using floodgate = await openFloodgate(servers, { worker: NO_RELAY });
  const { db, baseUrl, books, pids } = floodgate;
  const requests = await one.prepare(db);
  const meter = new Meter({ ...servers.pids, ...pids });
  const load = (length: number) =>
    generateLoad({ baseUrl, requests, connections: CONNECTIONS, seconds: length });
  await load(WARM_UP_SECONDS);
  await finalizeAll(books);
  await servers.checkpoint();
  const live = await storedBy(floodgate, async () => {
    const before = await meter.cpuMicros();
    const result = await load(seconds);
    await finalizeAll(books);
    return { result, used: usedBetween(before, await meter.cpuMicros()) };
  });
  const held = await storedBy(floodgate, async () => {
    const { result, before } = await withoutWorker(pids.worker, async () => {
      const loaded = await load(seconds);
      // Writes that the load has left are not part of finalization.
      await servers.checkpoint();
      return { result: loaded, before: await meter.cpuMicros() };
    });
    await finalizeAll(books);
    return { result, used: usedBetween(before, await meter.cpuMicros()) };
  });
  await assertReconciled(db);
  return {
    'all µs': sum(live.each.worker, live.each.redis, held.each.postgres),
    'worker µs': live.each.worker,
    'Redis µs': live.each.redis,
    'Postgres µs': held.each.postgres,
    'registrations/s': live.registered / live.result.seconds,
    'worker µs, afterwards': held.each.worker,
    'Redis µs, afterwards': held.each.redis,
    ...(await readSegments(db)),
  };
}

interface Measured {
  result: LoadResult;
  /** CPU time. */
  used: ByPart;
}

/** Returns what a load has stored, and the CPU time per registration. Throws if the books do not balance. */
async function storedBy(
  { books }: OpenFloodgate,
  run: () => Promise<Measured>,
): Promise<Measured & { registered: number; each: ByPart }> {
  const before = (await books.read()).registered;
  const measured = await run();
  const after = await books.read();
  const registered = after.registered - before;
  const fault = findFault(measured.result, { books: 'stored' }, after, registered);
  if (fault) throw new Error(fault);
  const parts = Object.entries(measured.used).map(([part, micros]) => [part, micros / registered]);
  return { ...measured, registered, each: Object.fromEntries(parts) as ByPart };
}

/** Stops the worker process during `run`. */
async function withoutWorker<Result>(pid: number, run: () => Promise<Result>): Promise<Result> {
  process.kill(pid, 'SIGSTOP');
  try {
    return await run();
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

/** Returns NaN if one is unknown. */
const sum = (...values: (number | undefined)[]): number =>
  values.reduce<number>((all, value) => all + (value ?? Number.NaN), 0);

/** Reads the segments of all registrations. */
async function readSegments(db: Database): Promise<Values> {
  const { rows } = await sql<{ segments: number; bytes: number; registered: number }>`
    select count(*) as segments, pg_total_relation_size('journal_segments') as bytes,
      (select count(*) from registrations) as registered
    from journal_segments`.execute(db);
  const { segments, bytes, registered } = rows[0]!;
  return { segments: segments / registered, 'journal bytes': bytes / registered };
}
