import { setTimeout as delay } from 'node:timers/promises';
import { formatPassReference } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { sql, type RawBuilder, type SqlBool } from 'kysely';
import { createFixture } from '@floodgate/test/harness/fixture.ts';
import { tablesOf } from '@floodgate/test/harness/stored-tables.ts';
import { floodgate } from './contenders/floodgate.ts';
import { generateLoad } from '@floodgate/rehearsal/load/generate';
import { NUMBER, type Load, type RequestLog } from '@floodgate/rehearsal/load/load';
import { countCodes, latencies, secondsUntilUsual } from './load/read-log.ts';
import { finalizeAll } from './measure.ts';
import { MemoryWatch } from './memory-watch.ts';
import type { Progress } from './progress.ts';
import type { Outage } from './results.ts';
import type { Servers } from './servers.ts';
import { registerRequest } from './workloads.ts';

export interface OutageOptions {
  redisSeconds: number;
  postgresSeconds: number;
  perSecond: number;
}

const SECONDS = { before: 5, after: 8 };
const PARTNERS = 5_000;
const OVERHEAD_SECONDS = 15;

type Plan = Pick<Outage, 'name' | 'seconds' | 'perSecond'> & {
  server: 'postgres' | 'redis';
  return: Parameters<Servers['comeBack']>[0];
};

/** Returns the plans in their order. */
function plansOf({ redisSeconds, postgresSeconds, perSecond }: OutageOptions): Plan[] {
  const redis = { server: 'redis', seconds: redisSeconds, perSecond } as const;
  return [
    { ...redis, name: 'Redis, with its data', return: 'redis' },
    { ...redis, name: 'Redis, emptied', return: 'empty redis' },
    { name: 'Postgres', server: 'postgres', return: 'postgres', seconds: postgresSeconds, perSecond },
  ];
}

const lengthOf = ({ seconds }: Plan) => SECONDS.before + seconds + SECONDS.after + OVERHEAD_SECONDS;

export function outageSeconds(options: OutageOptions): number {
  return plansOf(options).reduce((sum, plan) => sum + lengthOf(plan), 0);
}

/** Crashes each server under an open-loop load, and accounts for every request. */
export async function outages(
  servers: Servers,
  options: OutageOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<Outage[]> {
  const results: Outage[] = [];
  for (const plan of plansOf(options)) {
    signal.throwIfAborted();
    progress.say(`${plan.name} away for ${plan.seconds} s`);
    results.push(await outage(servers, plan, signal));
    progress.add(lengthOf(plan));
  }
  return results;
}

async function outage(servers: Servers, plan: Plan, signal: AbortSignal): Promise<Outage> {
  await using database = await servers.openDatabase();
  await servers.emptyRedis();
  const { db } = database;
  const fixture = await createFixture(db);
  // Requests are numbered, so that each can be found in the database.
  const requests = [await registerRequest(fixture, undefined, { extraData1: NUMBER })];
  const running = await floodgate.start({ databaseUrl: database.url, redisUrl: servers.redisUrl, db });
  try {
    const common: Load = { baseUrl: running.baseUrl, requests, connections: PARTNERS, seconds: 0 };
    await generateLoad({ ...common, seconds: 2, connections: 128 });
    await finalizeAll(running);
    const numbersFrom = await highestSerial(db);
    const memory = new MemoryWatch(running.pids.api!);
    const seconds = SECONDS.before + plan.seconds + SECONDS.after;
    const phases = [{ seconds, perSecond: plan.perSecond }];
    const load = generateLoad({ ...common, phases, logged: true });
    const backAt = await interrupt(servers, plan, signal);
    const { log } = await load;
    const isFinalized = await finalizeAll(running);
    const apiMiB = await memory.stop();
    const books = await running.books!.read();
    const all = log!.code.map((_, number) => number);
    const back = { from: backAt - log!.startedAt, to: seconds * 1000 };
    return {
      ...pick(plan),
      answers: countCodes(log!, all),
      slowestMs: latencies(log!, all).reduce((slowest, ms) => Math.max(slowest, ms), 0),
      ...account(log!, await readStored(db, sql<SqlBool>`serial > ${numbersFrom}`)),
      servedAfterSeconds: secondsUntilUsual(log!, back, Infinity),
      confirmedAfterSeconds: await confirmedAfter(db, new Date(backAt)),
      apiMiB,
      fault: isFinalized && books.wrongTickets === 0 ? '' : JSON.stringify(books),
    };
  } finally {
    await running.stop();
  }
}

const pick = ({ name, seconds, perSecond }: Plan) => ({ name, seconds, perSecond });

/** Stops the server for some time. Resolves with the time of its return, in milliseconds since the epoch. */
async function interrupt(servers: Servers, plan: Plan, signal: AbortSignal): Promise<number> {
  await delay(SECONDS.before * 1000, undefined, { signal });
  await servers.crash(plan.server);
  try {
    await delay(plan.seconds * 1000, undefined, { signal });
  } finally {
    await servers.comeBack(plan.return);
  }
  return Date.now();
}

export interface Stored {
  number: number;
  passReference: string;
}

async function highestSerial(db: Database): Promise<number> {
  const { serial } = await tablesOf(db)
    .selectFrom('registrations')
    .select(({ fn }) => fn.max('serial').as('serial'))
    .executeTakeFirstOrThrow();
  return serial;
}

/** Returns the registrations that match a condition, by the number of their request. */
export async function readStored(db: Database, condition: RawBuilder<SqlBool>): Promise<Stored[]> {
  const rows = await tablesOf(db)
    .selectFrom('registrations')
    .innerJoin('events', 'events.id', 'registrations.event_id')
    .where(condition)
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

/** Compares answers with stored registrations. */
export function account(log: RequestLog, stored: readonly Stored[]): Pick<Outage, 'lost' | 'doubled'> {
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
