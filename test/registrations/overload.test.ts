import { reconcile } from '@floodgate/registrations';
import { sql } from 'kysely';
import { execFileSync } from 'node:child_process';
import { afterAll, afterEach, beforeEach, expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { expectFailure, expectRetryAfter } from '../harness/expect-failure.ts';
import { createFixture } from '../harness/fixture.ts';
import { holdTable } from '../harness/hold-table.ts';
import { holdTicket } from '../harness/hold-ticket.ts';
import { PATIENT, startInProcessApi } from '../harness/in-process-api.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { attendee, PartnerClient, type Answer } from '../harness/partner-client.ts';
import { RawConnection, requestText } from '../harness/raw-http.ts';
import { startApiProcess, type Environment, type ServiceProcess } from '../harness/service-process.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { residentMiB } from '../harness/process-usage.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = eventTest({ own: 'changes the schema, the roles or the settings of its database' });

test.override('ticket', { capacity: 100_000 });

let proxy: TcpProxy;
let api: ServiceProcess & { baseUrl: string };
let partner: PartnerClient;
let connections: RawConnection[];

test.beforeAll(async () => {
  proxy = await TcpProxy.start(given.database.url);
});

afterAll(async () => {
  await proxy.stop();
});

beforeEach(async () => {
  proxy.setMode('pass');
  connections = [];
});

afterEach(async () => {
  for (const connection of connections) connection.close();
  expect(await api.end(), api.output()).toBe(0);
  expect(await reconcile(given.database.db)).toEqual([]);
});

/** Starts the API with Postgres behind the proxy, and without a queue: these tests do not need finalization. */
async function startApi(env: Environment = {}): Promise<void> {
  const common = { DATABASE_URL: proxy.through(given.database.url), QUEUE_URL: 'redis://127.0.0.1:1' };
  api = await startApiProcess({ ...common, ...env });
  partner = new PartnerClient(api.baseUrl, given.gala);
}

async function openConnection(): Promise<RawConnection> {
  const connection = await RawConnection.open(api.baseUrl);
  connections.push(connection);
  return connection;
}

const register = (count: number) =>
  Promise.all(Array.from({ length: count }, () => partner.register(attendee(given.ticketId))));

function codes(answers: Answer[]): Record<string, number> {
  const byCode = Map.groupBy(answers, ({ body }) => body.responseCode);
  return Object.fromEntries([...byCode].map(([code, same]) => [code, same.length]));
}

async function storedRegistrations(): Promise<number> {
  const rows = tablesOf(given.database.db)
    .selectFrom('registrations')
    .select('serial')
    .where('event_id', '=', given.gala.eventId);
  return (await rows.execute()).length;
}

test('past the waiting limit the answer is 90 with Retry-After, and nothing of it is reserved', async () => {
  await startApi({ WAITING_LIMIT: '20', ANSWER_WITHIN_MS: '20000' });
  await register(1);
  const held = await holdTicket(given.database.db, given.ticketId);
  const underWay = register(1);
  await held.waiters(1);
  const waiting = register(50);
  // The API refuses it before it reads the body. Otherwise the answer would be 10.
  const refused = await waitUntil('the waiting room is full', async () => {
    const answer = await partner.register('{');
    return answer.body.responseCode === '90' && answer;
  });
  expectFailure(refused, '90', 503);
  expect((await partner.tickets()).body.responseCode).toBe('00');
  await held.release();
  expect(codes(await underWay)).toEqual({ '00': 1 });
  expect(codes(await waiting)).toEqual({ '00': 20, '90': 30 });
  expect(await storedRegistrations()).toBe(22);
  expect((await partner.register('{')).body.responseCode).toBe('10');
});

test('who is unknown is told so, also while the waiting room is full', async () => {
  await startApi({ WAITING_LIMIT: '1', ANSWER_WITHIN_MS: '20000' });
  await register(1);
  const held = await holdTicket(given.database.db, given.ticketId);
  const underWay = register(1);
  await held.waiters(1);
  const waiting = register(1);
  await waitUntil(
    'the waiting room is full',
    async () => (await partner.register('{')).body.responseCode === '90',
  );
  const stranger = new PartnerClient(api.baseUrl, { ...given.gala, secretKey: 'fg_nobody' });
  expectFailure(await stranger.register('{'), '20');
  await held.release();
  expect(codes([...(await underWay), ...(await waiting)])).toEqual({ '00': 2 });
});

/** Three times the memory that a connection takes. */
const MAX_KIB_PER_CONNECTION = 40;
/** Files that a process opens in addition to the connections that a test counts. */
const OTHER_FILES = 500;
const idleConnections = Math.min(10_000, openFilesLimit() - OTHER_FILES);

test(`${idleConnections} idle connections cost little memory, and registrations go on`, async () => {
  await startApi();
  await register(50);
  const before = await residentMiB(api.child.pid!);
  const idle: RawConnection[] = [];
  while (idle.length < idleConnections) {
    const count = Math.min(250, idleConnections - idle.length);
    const opened = await Promise.all(Array.from({ length: count }, openConnection));
    idle.push(...opened);
    for (const connection of opened) connection.send(requestText('GET /health/live', { host: 'api' }));
    for (const connection of opened) expect((await connection.answer()).status).toBe(200);
  }
  const after = await residentMiB(api.child.pid!);
  if (before !== undefined && after !== undefined)
    expect(((after - before) * 1024) / idle.length).toBeLessThan(MAX_KIB_PER_CONNECTION);
  expect(codes(await register(50))).toEqual({ '00': 50 });
  // The connections are still open, and the API answers them.
  const asked = [idle[0]!, idle.at(-1)!];
  for (const connection of asked) connection.send(requestText('GET /health/live', { host: 'api' }));
  for (const connection of asked) expect((await connection.answer()).status).toBe(200);
});

/** Returns the limit of this process, which its child processes inherit. */
function openFilesLimit(): number {
  return Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' })) || 10_000 + OTHER_FILES;
}

test('a stuck Postgres: everything is answered while it is stuck, and afterwards the books balance', async () => {
  await startApi({ ANSWER_WITHIN_MS: '1500', WAITING_LIMIT: '50' });
  const [registered] = await register(20);
  const passReference = String(registered!.body.responseData);
  const held = await holdTicket(given.database.db, given.ticketId);
  const registrations = register(200);
  await held.waiters(1);
  proxy.setMode('silent');
  const { secretKey } = await createFixture(given.database.db);
  const newcomer = new PartnerClient(api.baseUrl, { ...given.gala, secretKey });
  const reads = [partner.registration(passReference), newcomer.tickets(), newcomer.register('{')];
  expect((await fetch(`${api.baseUrl}/health/live`)).status).toBe(200);
  expect((await fetch(`${api.baseUrl}/health/ready`)).status).toBe(503);
  for (const answer of await Promise.all(reads)) expectFailure(answer, '90', 503);
  const answers = await registrations;
  const { '91': unknown = 0, '90': refused = 0 } = codes(answers);
  expect(unknown + refused).toBe(200);
  expect(unknown).toBeGreaterThan(0);
  for (const answer of answers) expectRetryAfter(answer, 1);

  await held.release();
  proxy.setMode('pass');
  const again = await waitUntil('Postgres is found again', async () => {
    const answer = await partner.register(attendee(given.ticketId));
    return answer.body.responseCode === '00' && answer;
  });
  expect((await partner.registration(String(again.body.responseData))).status).toBe(200);
  expect(codes(await register(20))).toEqual({ '00': 20 });
  expect(await storedRegistrations()).toBeGreaterThanOrEqual(41);
  expect(await storedRegistrations()).toBeLessThanOrEqual(41 + unknown);
});

test('the wait for a slow read counts as well: a change whose time is over is unknown, however long it would wait for a lock', async () => {
  await startApi();
  const [registered] = await register(1);
  const path = `/registrations/${String(registered!.body.responseData)}/attendee`;
  const rival = await given.database.db.startTransaction().execute();
  await sql`select from registrations where shard_id = ${given.gala.shardId} and event_id = ${given.gala.eventId} for update`.execute(
    rival,
  );
  const clock = new ManualClock();
  const patient = await startInProcessApi({ DATABASE_URL: given.database.url, ...PATIENT }, clock);
  const own = new PartnerClient(patient.baseUrl, given.gala);
  const changeSlowly = async () => {
    const table = await holdTable(given.database.db, 'tickets');
    const changed = own.post(path, { fullName: 'Joe Doe', emailAddress: 'joe@example.com' });
    await waitUntil('the registration is looked up', lookUpStart);
    await clock.advance(Number(PATIENT.ANSWER_WITHIN_MS));
    await table.release();
    let isAnswered = false;
    void changed.then(() => (isAnswered = true));
    await waitUntil('it is answered', async () => {
      await clock.advance(50);
      return isAnswered;
    });
    return (await changed).body.responseCode === '91';
  };
  // A look-up has a time limit of its own. A machine that is too slow for it gets 90, and the change is tried
  // once more.
  await waitUntil('the change is answered 91', changeSlowly);
  await rival.rollback().execute();
  await patient.close();
});

/** When the statement began that looks up registrations for the API; undefined: there is none. */
async function lookUpStart(): Promise<string | undefined> {
  const { rows } = await sql<{ start: string }>`
    select query_start::text as start from pg_stat_activity
    where datname = current_database() and application_name = 'floodgate-api' and state = 'active'
      and query like '%held_until%'`.execute(given.database.db);
  return rows[0]?.start;
}
