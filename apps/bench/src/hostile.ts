import { randomBytes } from 'node:crypto';
import type { Database } from '@floodgate/database';
import { createFixture, type Fixture } from '@floodgate/test/harness/fixture.ts';
import { attendee } from '@floodgate/test/harness/partner-client.ts';
import { startFloodgate } from './contenders/floodgate.ts';
import { generateLoad } from '@floodgate/rehearsal/load/generate';
import {
  answersOf,
  OK,
  totalAnswers,
  type Load,
  type LoadResult,
  type RequestShape,
} from '@floodgate/rehearsal/load/load';
import { dueIn, latencies } from './load/read-log.ts';
import { MemoryWatch } from './memory-watch.ts';
import type { Progress } from './progress.ts';
import { quantile } from './report/statistics.ts';
import type { Hostile } from './results.ts';
import type { Servers } from './servers.ts';
import { registerRequest, ROOMY } from './workloads.ts';

export interface HostileOptions {
  rounds: number;
  /** Length of each load. */
  seconds: number;
  /** Runs only cases whose name contains one of these. Absent: all. */
  only?: readonly string[] | undefined;
}

/** Requests that a hostile partner sends all the time while another partner registers attendees. */
interface Case {
  name: string;
  mode?: 'test';
  load(
    fixture: Fixture,
    baseUrl: string,
  ): Promise<Pick<Load, 'requests' | 'connections' | 'arrivalsPerSecond'>>;
}

const MEBIBYTE = 1024 * 1024;
/** Single calls per second of the good partner. */
const PER_SECOND = 200;
const CONNECTIONS = 200;
/** Time until the hostile partner uses all the capacity that it can. */
const FILLING_SECONDS = 2;
const OVERHEAD_SECONDS = 6;

const bulk =
  (body: string, headers: Record<string, string> = {}) =>
  (fixture: Fixture) =>
    shapeOf(fixture, 'POST', '/api/v1/events/register/bulk', headers, body);

function shapeOf(
  { secretKey, eventRef }: Fixture,
  method: 'GET' | 'POST',
  path: string,
  headers: Record<string, string> = {},
  body = '',
): RequestShape {
  return { method, path, headers: { 'x-secret-key': secretKey, 'x-event-ref': eventRef, ...headers }, body };
}

/** Returns a bulk call of at most a mebibyte, filled with copies of an item. */
function fullOf(item: string): string {
  const count = Math.floor((MEBIBYTE - 30) / (item.length + 1));
  return `{"registrations":[${Array<string>(count).fill(item).join(',')}]}`;
}

/** A thousand items with only invalid fields. */
const wrongFields = JSON.stringify({
  registrations: Array.from({ length: 1_000 }, () =>
    Object.fromEntries(Object.keys(attendee(1)).map((name) => [name, { not: 'x'.repeat(100) }])),
  ),
});

/** The longest lists of junk that the other bodies with a list can hold, on their routes. */
const JUNK_LISTS: readonly [path: string, list: string, bytes: number][] = [
  ['/api/v1/events/holds/0197a3c2-5d1e-7c44-9b1f-0a2b3c4d5e6f/confirm', 'attendees', MEBIBYTE],
  ['/api/v1/events/holds/0197a3c2-5d1e-7c44-9b1f-0a2b3c4d5e6f/release', 'passReferences', 36 * 1024],
  ['/api/v1/events/holds', 'seats', 36 * 1024],
  ['/api/v1/webhooks', 'types', 36 * 1024],
];

const junkLists = (fixture: Fixture) =>
  JUNK_LISTS.map(([path, list, bytes]) => {
    const items = Array(Math.min(65_000, Math.floor((bytes - 30) / 2))).fill(1);
    return shapeOf(
      fixture,
      'POST',
      path,
      { 'content-type': 'application/json' },
      JSON.stringify({ [list]: items }),
    );
  });

const STRANGERS = 128;
/** So many different values that no cache holds them. */
const INVENTED = 5_000;

/** Requests of strangers: `headersOf` returns the credentials of each. */
const strangers =
  (
    path: string,
    headersOf: () => Record<string, string>,
    method: 'GET' | 'POST' = 'GET',
    body = '',
    connections = STRANGERS,
  ): Case['load'] =>
  async () => ({
    requests: Array.from({ length: INVENTED }, () => ({ method, path, headers: headersOf(), body })),
    connections,
  });

const text = (bytes: number) => randomBytes(bytes).toString('base64url');
const json = { 'content-type': 'application/json' };
const enrolment = () =>
  JSON.stringify({ code: text(15), publicKey: text(32), signature: text(64), version: '1' });

const JUNK: Record<string, string> = {
  '1': fullOf('1'),
  '{}': fullOf('{}'),
  '[]': fullOf('[]'),
  '""': fullOf('""'),
  'that looks valid': fullOf(JSON.stringify(attendee(1))),
  'of 1,000 wrong items': wrongFields,
  'nested deeply': `{"registrations":${'['.repeat(MEBIBYTE / 2 - 20)}${']'.repeat(MEBIBYTE / 2 - 20)}}`,
};

const many = (path: string, method: 'GET' | 'POST') => async (fixture: Fixture) => ({
  requests: [shapeOf(fixture, method, path)],
  connections: CONNECTIONS,
});

async function picturesOfAPass(fixture: Fixture, baseUrl: string) {
  const ticketId = await fixture.addTicket();
  const { method, path, headers, body } = shapeOf(
    fixture,
    'POST',
    '/api/v1/events/register',
    { 'content-type': 'application/json' },
    JSON.stringify(attendee(ticketId)),
  );
  const answer = await fetch(`${baseUrl}${path}`, { method, headers, body: body! });
  const { responseData } = (await answer.json()) as { responseData: string };
  const png = `/api/v1/events/registrations/${responseData}/pass`;
  return { requests: [shapeOf(fixture, 'GET', png, { accept: 'image/png' })], connections: CONNECTIONS };
}

const CASES: readonly Case[] = [
  ...Object.entries(JUNK).map(([name, body]): Case => ({
    name: `one bulk call a second ${name}`,
    load: async (fixture) => ({ requests: [bulk(body)(fixture)], connections: 4, arrivalsPerSecond: 1 }),
  })),
  {
    name: 'four callers of junk',
    load: async (fixture) => ({
      requests: Object.values(JUNK).map((body) => bulk(body)(fixture)),
      connections: 4,
    }),
  },
  {
    name: '1,500 unfinished bulk calls',
    load: async (fixture) => ({
      requests: [bulk('x'.repeat(MEBIBYTE - 1), { 'content-length': String(MEBIBYTE) })(fixture)],
      connections: 1_500,
    }),
  },
  {
    name: 'four callers of junk in the lists of other routes',
    load: async (fixture) => ({ requests: junkLists(fixture), connections: 4 }),
  },
  {
    name: '128 strangers with unknown paths',
    load: async () => ({
      requests: Array.from({ length: INVENTED }, () => ({
        method: 'GET',
        path: `/${text(9)}/${'x'.repeat(12_000)}`,
        headers: {},
      })),
      connections: STRANGERS,
    }),
  },
  {
    name: '128 strangers with invented keys',
    load: strangers('/api/v1/events/tickets', () => ({
      'x-secret-key': `fg_${randomBytes(8).toString('hex')}_${text(32)}`,
    })),
  },
  {
    name: '128 strangers with invented tokens of devices',
    load: strangers('/door/v1/state?counter=0', () => ({
      authorization: `Door fgd_0_1_${text(32)}`,
      'x-door-time': String(Date.now()),
      'x-door-signature': text(64),
    })),
  },
  {
    name: '500 strangers who enrol a device',
    load: strangers('/door/v1/enrol', () => json, 'POST', enrolment(), 500),
  },
  {
    name: '800 strangers with unfinished bodies',
    load: strangers(
      '/door/v1/enrol',
      () => ({ ...json, 'content-length': '4096' }),
      'POST',
      'x'.repeat(4_000),
      800,
    ),
  },
  { name: '200 callers of reset', mode: 'test', load: many('/api/v1/events/reset', 'POST') },
  { name: '200 callers of webhooks', load: many('/api/v1/webhooks', 'GET') },
  { name: '200 callers of PNG passes', load: picturesOfAPass },
];

const secondsOf = ({ seconds }: HostileOptions) => 2 * (seconds + FILLING_SECONDS) + OVERHEAD_SECONDS;

const casesOf = ({ only }: HostileOptions) =>
  CASES.filter(({ name }) => !only || only.some((part) => name.includes(part)));

export const hostileSeconds = (options: HostileOptions): number =>
  options.rounds * casesOf(options).length * secondsOf(options);

/** Compares a partner's latency next to a hostile partner with its latency alone. */
export async function hostiles(
  servers: Servers,
  options: HostileOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<Hostile[]> {
  const results: Hostile[] = [];
  for (let round = 1; round <= options.rounds; round += 1)
    for (const one of casesOf(options)) {
      signal.throwIfAborted();
      progress.say(`beside ${one.name}, round ${round}`);
      results.push({ name: one.name, round, ...(await measureCase(servers, one, options.seconds)) });
      progress.add(secondsOf(options));
    }
  return results;
}

async function measureCase(servers: Servers, one: Case, seconds: number) {
  await using database = await servers.openDatabase();
  await servers.emptyRedis();
  const { url: databaseUrl, db } = database;
  const running = await startFloodgate({ databaseUrl, redisUrl: servers.redisUrl, db });
  try {
    const { baseUrl } = running;
    const request = await requestOf(db);
    const hostile = await one.load(await createFixture(db, 'allow', one.mode ?? 'live'), baseUrl);
    const alone = await serve(baseUrl, request, seconds);
    const memory = new MemoryWatch(running.pids.api!);
    const crowd = generateLoad({ baseUrl, ...hostile, reconnects: true, seconds: seconds + FILLING_SECONDS });
    const beside = await serve(baseUrl, request, seconds);
    return { alone, beside, ...describe(await crowd), addedMiB: addedBy(await memory.stop()) };
  } finally {
    await running.stop();
  }
}

const requestOf = async (db: Database) => registerRequest(await createFixture(db), ROOMY);

const addedBy = ({ before, max }: { before: number; max: number }) => max - before;

const describe = (crowd: LoadResult) => ({
  otherPerSecond: totalAnswers(crowd) / crowd.seconds,
  otherServed: answersOf(crowd, OK) / Math.max(1, totalAnswers(crowd)),
});

/** Returns the answers to a partner's open-loop load. */
async function serve(baseUrl: string, request: RequestShape, seconds: number): Promise<Hostile['alone']> {
  const { log } = await generateLoad({
    baseUrl,
    requests: [request],
    connections: CONNECTIONS,
    greeting: { method: 'GET', path: '/health/live', headers: {} },
    seconds: seconds + FILLING_SECONDS,
    arrivalsPerSecond: PER_SECOND,
    logged: true,
  });
  const from = FILLING_SECONDS * 1_000;
  const numbers = dueIn(log!, { from, to: from + seconds * 1_000 });
  const ms = latencies(log!, numbers, '00');
  return {
    share: ms.length / numbers.length,
    p50Ms: quantile(ms, 0.5),
    p99Ms: quantile(ms, 0.99),
    maxMs: quantile(ms, 1),
  };
}
