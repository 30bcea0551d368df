import { setTimeout as delay } from 'node:timers/promises';
import { formatPassReference } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { generateLoad } from '@floodgate/rehearsal/load/generate';
import { NUMBER, type Load, type RequestLog } from '@floodgate/rehearsal/load/load';
import { createFixture } from '@floodgate/test/harness/fixture.ts';
import { tablesOf } from '@floodgate/test/harness/stored-tables.ts';
import { openFloodgate } from '../contenders/floodgate.ts';
import { attempt, type Bench, type Mode, type Settings } from '../mode.ts';
import { assertTickets, finalizeAll } from '../rates/books.ts';
import { registerRequest } from '../rates/workloads.ts';
import { atMost, countsOf, type Bound, type Values } from '../report/results.ts';
import type { Servers } from '../servers.ts';
import { MemoryWatch } from './memory-watch.ts';
import { countCodes, latencies, secondsUntilUsual } from './read-log.ts';

interface Outage {
  name: string;
  server: 'postgres' | 'redis';
  return: Parameters<Servers['comeBack']>[0];
  seconds: number;
  perSecond: number;
}

const SECONDS = { before: 5, after: 8 };
const PARTNERS = 5_000;
const OVERHEAD_SECONDS = 15;
/** Answers that nothing was reserved, or that the outcome is unknown. */
const DURING_OUTAGE = new Set(['00', '90', '91', 'cut']);

const COMMON_TARGETS = { lost: atMost(0), doubled: atMost(0), 'API memory ÷ before': atMost(2) };
const TARGETS: Record<Outage['server'], Record<string, Bound>> = {
  redis: { ...COMMON_TARGETS, 'not 00': atMost(0), 'confirmed after s': atMost(10) },
  postgres: {
    ...COMMON_TARGETS,
    'not 00, 90 or 91': atMost(0),
    'slowest s': atMost(3),
    'served after s': atMost(3),
  },
};

function outagesOf({ redisSeconds, postgresSeconds, rate: perSecond }: Settings): Outage[] {
  const redis = { server: 'redis', seconds: redisSeconds, perSecond } as const;
  return [
    { ...redis, name: 'Redis, with its data', return: 'redis' },
    { ...redis, name: 'Redis, emptied', return: 'empty redis' },
    { name: 'Postgres', server: 'postgres', return: 'postgres', seconds: postgresSeconds, perSecond },
  ];
}

const secondsOfCase = ({ seconds }: Outage): number =>
  SECONDS.before + seconds + SECONDS.after + OVERHEAD_SECONDS;

/** Crashes each server under an open-loop load, and accounts for every request. */
export const OUTAGES: Mode = {
  name: 'outages',
  help: 'Redis and Postgres crash under load and return',
  usual: { redisSeconds: 60, postgresSeconds: 10, rate: 5_000 },
  duration: (settings) => outagesOf(settings).reduce((sum, one) => sum + secondsOfCase(one), 0),
  measure: async (bench, settings) => {
    for (const one of outagesOf(settings)) {
      const row = `${one.name}, ${one.seconds} s`;
      const values = await attempt(bench, `${row} down`, () => outage(bench, one));
      const table = `A server crashes under ${one.perSecond} requests a second`;
      if (values) bench.results.add(table, row, values, TARGETS[one.server]);
      bench.progress.add(secondsOfCase(one));
    }
  },
};

async function outage({ servers, signal }: Bench, plan: Outage): Promise<Values> {
  await using floodgate = await openFloodgate(servers);
  const { db, baseUrl, books, pids } = floodgate;
  // Requests are numbered, so that each can be found in the database.
  const requests = [await registerRequest(await createFixture(db), undefined, { extraData1: NUMBER })];
  const common: Load = { baseUrl, requests, connections: PARTNERS, seconds: 0 };
  await generateLoad({ ...common, seconds: 2, connections: 128 });
  await finalizeAll(books);
  const memory = new MemoryWatch(pids.api);
  const seconds = SECONDS.before + plan.seconds + SECONDS.after;
  const phases = [{ seconds, perSecond: plan.perSecond }];
  const load = generateLoad({ ...common, phases, logged: true });
  const backAt = await interrupt(servers, plan, signal);
  const log = (await load).log!;
  await assertTickets(books);
  const { before, max } = await memory.stop();
  const numbers = [...log.code.keys()];
  const answers = countCodes(log, numbers);
  const others = (isForeseen: (code: string) => boolean): number =>
    log.code.filter((code) => !isForeseen(code)).length;
  const back = { from: backAt - log.startedAt, to: seconds * 1000 };
  return {
    requests: numbers.length,
    'not 00': others((code) => code === '00'),
    'not 00, 90 or 91': others((code) => DURING_OUTAGE.has(code)),
    ...account(log, await readStored(db)),
    'slowest s': latencies(log, numbers).reduce((slowest, ms) => Math.max(slowest, ms || 0), 0) / 1000,
    'served after s': secondsUntilUsual(log, back, Infinity),
    'confirmed after s': await confirmedAfter(db, new Date(backAt)),
    'API memory ÷ before': max / before,
    ...countsOf(answers),
  };
}

/** Stops the server for some time. Resolves with the time of its return, in milliseconds since the epoch. */
async function interrupt(servers: Servers, plan: Outage, signal: AbortSignal): Promise<number> {
  await delay(SECONDS.before * 1000, undefined, { signal });
  await servers.crash(plan.server);
  try {
    await delay(plan.seconds * 1000, undefined, { signal });
  } finally {
    await servers.comeBack(plan.return);
  }
  return Date.now();
}

/** A stored registration, by the number of its request. */
interface Stored {
  number: number;
  passReference: string;
}

/** Returns the registrations. Those of the warm-up have no number. */
async function readStored(db: Database): Promise<Stored[]> {
  const rows = await tablesOf(db)
    .selectFrom('registrations')
    .innerJoin('events', 'events.id', 'registrations.event_id')
    .select(['extra_data_1', 'event_id', 'serial', 'pass_code', 'pass_prefix'])
    .execute();
  return rows.map((row) => ({
    number: Number(row.extra_data_1),
    passReference: formatPassReference({
      prefix: row.pass_prefix,
      eventId: row.event_id,
      serial: row.serial,
      passCode: row.pass_code,
    }),
  }));
}

const MAY_BE_STORED = new Set(['91', 'cut', 'none']);

/**
 * Compares answers with stored registrations. Lost: answered "00" and not stored. Doubled: stored twice, or
 * stored although the answer denied it.
 */
function account(log: RequestLog, stored: readonly Stored[]): { lost: number; doubled: number } {
  const references = Map.groupBy(stored, ({ number }) => number);
  let [lost, doubled] = [0, 0];
  log.code.forEach((code, number) => {
    const found = references.get(number) ?? [];
    if (code === '00' && found[0]?.passReference !== log.detail[number]) lost += 1;
    else if (found.length > (code === '00' || MAY_BE_STORED.has(code) ? 1 : 0)) doubled += 1;
  });
  return { lost, doubled };
}

/** Returns the seconds from `back` until all registrations that were committed before are confirmed. */
async function confirmedAfter(db: Database, back: Date): Promise<number> {
  const { last } = await tablesOf(db)
    .selectFrom('batches')
    .where('created_at', '<', back)
    .where('state', '=', 'confirmed')
    .select(({ fn }) => fn.max('finished_at').as('last'))
    .executeTakeFirstOrThrow();
  return last === null ? 0 : Math.max(0, (new Date(last).getTime() - back.getTime()) / 1000);
}
