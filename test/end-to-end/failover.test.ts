import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { migrate, type Database } from '@floodgate/database';
import { startPostgres } from '@floodgate/embedded-postgres';
import { migrateQueue } from '@floodgate/queue';
import { reconcile } from '@floodgate/registrations';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { PostgresUnderTest, type Standby } from '../faults/postgres-under-test.ts';
import { promote } from '../faults/standby.ts';
import { connectInTest } from '../harness/connect-in-test.ts';
import { DATABASE_PREFIX, TEMPLATE_NAMESPACE, withDatabase } from '../harness/database-url.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { startInProcessApi } from '../harness/in-process-api.ts';
import { isOutboxEmpty, journalOf } from '../harness/journal.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import {
  startApiProcess,
  startDeliveryProcess,
  startProcess,
  startWorkerProcess,
} from '../harness/service-process.ts';
import { createServiceRoles, grantQueueToServiceRoles, grantServiceRoles } from '../harness/service-roles.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { followChain } from '../harness/webhook-receiver.ts';
import { startReceiverInTest } from '../harness/webhooks-in-test.ts';
import { addWebhook } from '../harness/webhooks.ts';

// The drill of apps/docs/operate/failover.md: a primary and a synchronous standby, and partners that never pause.

const pageOf = (name: string) =>
  readFileSync(new URL(`../../apps/docs/operate/${name}.md`, import.meta.url), 'utf8');
const sqlOf = (name: string, start: string) =>
  [...pageOf(name).matchAll(/```sql\n(.*?)```/gs)]
    .map(([, text]) => text!)
    .find((text) => text.trim().startsWith(start))!;

const findOnBoth = sqlOf('failover', 'select concat_ws');
/** Step 5 of a restore. */
const moveCounters = sqlOf('backup', 'begin');

const DATABASE = `${DATABASE_PREFIX.postgres}failover`;
const CALLERS = 8;
/** Sells out after the failover, so that a seat could be sold twice. */
const FEW_SEATS = 100;
/** Of this many calls, one is for the ticket with few seats. */
const RARE = 10;
/** An answer comes within ANSWER_WITHIN_MS, 3 s. A busy machine needs more. */
const HANGS_MS = 12_000;

let postgres: PostgresUnderTest;
/** What DATABASE_URL names: a proxy, a virtual address, or the endpoint of a managed service. */
let address: TcpProxy;
let url: string;
let db: Database;
const standbys: Standby[] = [];

beforeAll(async () => {
  postgres = await PostgresUnderTest.start(await mkdtemp(path.join(tmpdir(), 'floodgate-failover-')));
  address = await TcpProxy.start(postgres.url());
  await using server = connectInTest(postgres.url());
  await sql`create database ${sql.id(DATABASE)}`.execute(server);
  await createServiceRoles(server, postgres.url());
  url = address.through(withDatabase(postgres.url(), DATABASE));
  db = connectInTest(url, 2);
  await migrate(db);
  await grantServiceRoles(db);
  await migrateQueue({ kind: 'postgres', connectionString: url }, TEMPLATE_NAMESPACE);
  await grantQueueToServiceRoles(url, TEMPLATE_NAMESPACE);
});

afterAll(async () => {
  await db.destroy();
  await address.stop();
  for (const { server } of standbys) await server.stop();
  await postgres.stop();
});

/** Copies the primary. From now on its commits wait for the copy. */
async function addStandby(): Promise<Standby> {
  const standby = await postgres.addStandby();
  standbys.push(standby);
  return standby;
}

/** An answer to a call. */
interface Answered {
  code: string;
  status: number;
  retryAfter: string | null;
  tookMs: number;
}

/** Registers without a pause, as partners that repeat what was not decided. */
function startLoad(baseUrl: string, fixture: Fixture, tickets: { many: number; few: number }) {
  const partner = new PartnerClient(baseUrl, fixture);
  const answers: Answered[] = [];
  const granted: string[] = [];
  let calls = 0;
  const over = new AbortController();
  const registerOne = async () => {
    calls += 1;
    const ticketId = calls % RARE === 0 ? tickets.few : tickets.many;
    const key = { 'idempotency-key': randomUUID() };
    await waitUntil('the registration is decided', async () => {
      const sentAt = performance.now();
      const { status, headers, body } = await partner.register(attendee(ticketId), key);
      const tookMs = performance.now() - sentAt;
      answers.push({ code: body.responseCode, status, retryAfter: headers.get('retry-after'), tookMs });
      if (body.responseCode === '00') granted.push(String(body.responseData));
      return !['90', '91'].includes(body.responseCode);
    });
  };
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!over.signal.aborted) await registerOne();
  });
  const count = (...codes: string[]) => answers.filter(({ code }) => codes.includes(code)).length;
  /** Resolves after more of these answers. */
  const more = (what: string, ...codes: string[]) => {
    const before = count(...codes);
    return waitUntil(what, () => count(...codes) >= before + 2 * CALLERS);
  };
  return {
    answers,
    granted,
    serves: () => more('partners get "00"', '00'),
    refuses: () => more('partners are told', '90', '91'),
    end: async () => {
      await waitUntil('the few seats are sold', () => count('32') > 0);
      over.abort();
      await Promise.all(callers);
    },
  };
}

type Load = ReturnType<typeof startLoad>;

/** Starts an API, a worker and a delivery process, and partners that register. */
async function startSale(queueUrl: string) {
  const env = {
    DATABASE_URL: url,
    QUEUE_URL: queueUrl,
    QUEUE_NAMESPACE: queueUrl === url ? TEMPLATE_NAMESPACE : `failover_${randomUUID().slice(0, 8)}`,
  };
  const receiver = await startReceiverInTest();
  const fixture = await createFixture(db);
  const tickets = {
    many: await fixture.addTicket({ capacity: 1_000_000 }),
    few: await fixture.addTicket({ capacity: FEW_SEATS }),
  };
  await addWebhook(db, fixture, { url: receiver.url, types: ['registration.confirmed'] });
  const [api, worker, delivery] = await Promise.all([
    startApiProcess({ ...env, ANSWER_WITHIN_MS: '3000', READ_WITHIN_MS: '1000' }),
    startWorkerProcess(env),
    startDeliveryProcess({ DATABASE_URL: url, WEBHOOK_ALLOW_PRIVATE: 'true' }),
  ]);
  const processes = [api, worker, delivery];
  onTestFinished(async () => void (await Promise.all(processes.map(({ end }) => end('SIGKILL')))));
  const load = startLoad(api.baseUrl, fixture, tickets);
  return { fixture, tickets, receiver, processes, load, api };
}

type Sale = Awaited<ReturnType<typeof startSale>>;

const serialOf = (reference: string) => Number(reference.split('-')[2]);
const ascending = (numbers: Iterable<number>) => [...numbers].toSorted((a, b) => a - b);

/** The documented answers, and none that took too long. */
function expectDocumented({ answers }: Load): void {
  const shapes = new Set(answers.map(({ code, status, retryAfter }) => `${code} ${status} ${retryAfter}`));
  expect([...shapes].filter((shape) => !/^(00 200 null|32 409 null|9[01] 503 \d+)$/.test(shape))).toEqual([]);
  expect(answers.filter(({ tookMs }) => tookMs > HANGS_MS)).toEqual([]);
}

/** Every "00" is there, once, confirmed and published. No other registration is. */
async function expectBalanced({ fixture, tickets, receiver, load }: Sale): Promise<void> {
  const promised = ascending(load.granted.map(serialOf));
  expect(new Set(promised).size).toBe(promised.length);
  await waitUntil('everything is finalized', () => isOutboxEmpty(db, fixture.shardId));
  const { rows } = await sql<{ serial: number; state: string; ticketId: number }>`
    select serial, state, ticket_id as "ticketId"
    from registrations join batches on batches.id = batch_id where registrations.event_id = ${fixture.eventId}
    order by serial`.execute(db);
  expect(rows.map(({ serial }) => serial)).toEqual(promised);
  expect(rows.filter(({ state }) => state !== 'confirmed')).toEqual([]);
  expect(rows.filter(({ ticketId }) => ticketId === tickets.few)).toHaveLength(FEW_SEATS);
  expect(await reconcile(db)).toEqual([]);
  const entries = await journalOf(db, fixture);
  const published = entries.flatMap(({ kind, serial }) => (kind === 'confirmed' ? [serial!] : []));
  expect(ascending(published)).toEqual(promised);
  const told = await waitUntil('the receiver is told of all', () => {
    const chain = followChain(receiver.told());
    return chain.passes.length >= promised.length && chain;
  });
  expect(told.breaks).toEqual([]);
  expect(ascending(told.passes.map(serialOf))).toEqual(promised);
}

async function expectRunning({ processes }: Sale): Promise<void> {
  for (const { end } of processes) expect(await end()).toBe(0);
}

const isReady = async ({ api }: Sale) => (await fetch(`${api.baseUrl}/health/ready`)).status === 200;

/** An API whose commits would not wait for the standby does not start. */
async function expectRefused(synchronousCommit: string): Promise<void> {
  const other = new URL(url);
  other.searchParams.set('options', `-c synchronous_commit=${synchronousCommit}`);
  const api = startProcess('api', { PORT: '0', DATABASE_URL: other.href, QUEUE_URL: url });
  expect(await api.exited).toBe(1);
  expect(api.output()).toContain('a failover could lose registrations');
}

/** Loses the primary. In the mode `silent` it cannot be reached first, so connections to it do not end. */
async function failOver(sale: Sale, mode: 'pass' | 'silent'): Promise<void> {
  const standby = await addStandby();
  await sale.load.serves();
  if (mode === 'pass') await expectRefused('local');
  address.setMode(mode);
  if (mode === 'pass') await postgres.kill();
  await sale.load.refuses();
  await waitUntil('the API is not ready', async () => !(await isReady(sale)));
  // Before the standby is promoted: there are never two primaries.
  await postgres.kill();
  await postgres.failOver(standby);
  address.redirect(postgres.url());
  address.setMode('pass');
  await sale.load.serves();
  await waitUntil('the API is ready', () => isReady(sale));
}

test('a primary is killed, and its successor cannot be reached: nothing is lost, and nobody restarts', async () => {
  const sale = await startSale(inject('redisUrl') ?? url);
  await failOver(sale, 'pass');
  await failOver(sale, 'silent');
  await sale.load.end();
  expectDocumented(sale.load);
  await expectBalanced(sale);
  await expectRunning(sale);
});

/** Disconnects the standby. The primary no longer waits for it, as with asynchronous replication. */
async function leaveStandbyBehind(): Promise<void> {
  await using primary = connectInTest(postgres.url());
  await sql`alter system reset synchronous_standby_names`.execute(primary);
  const { rows } = await sql<{ file: string }>`select current_setting('hba_file') as file`.execute(primary);
  const { file } = rows[0]!;
  await writeFile(file, `host replication all all reject\n${await readFile(file, 'utf8')}`);
  await sql`select pg_reload_conf()`.execute(primary);
  await waitUntil('the standby is disconnected', async () => {
    const sent = await sql`select pg_terminate_backend(pid) from pg_stat_replication`.execute(primary);
    return sent.rows.length === 0;
  });
}

/** Starts a lost primary as the page says, and returns its rows that the new one does not have. */
async function findLost(dataDir: string): Promise<Record<string, unknown>[]> {
  const settings = { synchronous_standby_names: '', default_transaction_read_only: 'on' };
  await using server = await startPostgres({ dataDir, logFile: `${dataDir}.log`, settings });
  await using old = connectInTest(server.url(DATABASE));
  const query = sql.raw<Record<string, unknown>>(
    findOnBoth.replace(/'2026-.*?'/, "now() - interval '1 hour'"),
  );
  const [before, after] = [await query.execute(old), await query.execute(db)];
  const kept = new Set(after.rows.map((row) => JSON.stringify(row)));
  return before.rows.filter((row) => !kept.has(JSON.stringify(row)));
}

test('a standby that is behind: the disk of the old primary has what is lost, and no serial is used again', async () => {
  const fixture = await createFixture(db);
  const ticketId = await fixture.addTicket();
  const standby = await addStandby();
  const api = await startInProcessApi({ DATABASE_URL: url });
  const partner = new PartnerClient(api.baseUrl, fixture);
  const register = async () => String((await partner.register(attendee(ticketId))).body.responseData);
  const [, cancelled] = [await register(), await register()];
  await leaveStandbyBehind();
  const lost = [await register(), await register()];
  expect((await partner.cancel(cancelled)).body.responseCode).toBe('00');
  const { rows } = await sql<{ dir: string }>`select current_setting('data_directory') as dir`.execute(db);

  await postgres.kill();
  await postgres.failOver(standby);
  address.redirect(postgres.url());
  await sql.raw(moveCounters).execute(db);
  expect((await findLost(rows[0]!.dir)).map(({ passReference }) => passReference)).toEqual([
    cancelled,
    ...lost,
  ]);
  expect((await partner.registration(lost[0]!)).body.responseCode).toBe('34');
  expect(serialOf(await register())).toBeGreaterThan(serialOf(lost[1]!));
  expect(await reconcile(db)).toEqual([]);
  await api.close();
});

// The last test: afterwards, the primary is not the server that "postgres" knows. The queue is in Postgres, too.
test('a primary that becomes read-only and keeps its connections: they are left, those for reads too', async () => {
  const standby = await addStandby();
  const sale = await startSale(url);
  await using old = connectInTest(postgres.url(DATABASE));
  await sale.load.serves();

  await sql`alter system set default_transaction_read_only = on`.execute(old);
  await sql`select pg_reload_conf()`.execute(old);
  await sale.load.refuses();
  await promote(standby.server.url());
  address.redirectNew(standby.server.url());
  await sale.load.serves();
  await db.destroy();
  db = connectInTest(url, 2);

  await sale.load.end();
  const partner = new PartnerClient(sale.api.baseUrl, sale.fixture);
  const newest = sale.load.granted.at(-1)!;
  await waitUntil('no read of the API is of the old server', async () => {
    const reads = await Promise.all(Array.from({ length: 20 }, () => partner.registration(newest)));
    return reads.every(({ body }) => body.responseCode === '00');
  });
  expectDocumented(sale.load);
  await expectBalanced(sale);
  await expectRunning(sale);
});
