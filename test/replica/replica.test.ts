import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { listRegistrations } from '@floodgate/registrations';
import { sql } from 'kysely';
import type { Database } from '@floodgate/database';
import { ReplicaReads } from '@floodgate/database/reads/replica-reads';
import { createLogger } from '@floodgate/service';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { startInProcessApi, type InProcessApi } from '../harness/in-process-api.ts';
import { PartnerClient } from '../harness/partner-client.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { finalize, registerAndFinalize } from './finalized.ts';
import { startPrimaryAndStandby, type PrimaryAndStandby } from './primary-and-standby.ts';

let servers: PrimaryAndStandby;
let wire: TcpProxy;
let api: InProcessApi;
let gala: Fixture;
let partner: PartnerClient;
let ticketId: number;

beforeAll(async () => {
  servers = await startPrimaryAndStandby();
  wire = await TcpProxy.start(servers.standby.url());
  api = await startInProcessApi({
    DATABASE_URL: servers.primary.url(),
    DATABASE_REPLICA_URL: wire.through(servers.standby.url()),
  });
}, 120_000);
afterAll(async () => {
  await api.close();
  await wire.stop();
  await servers.stop();
});
beforeEach(async () => {
  gala = await createFixture(servers.db);
  partner = new PartnerClient(api.baseUrl, gala);
  ticketId = await gala.addTicket();
  await servers.caughtUp();
});
afterEach(() => wire.setMode('pass'));

const list = (after = '0') => partner.request(`/api/v1/events/registrations?limit=1000&after=${after}`);

async function health(): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${api.baseUrl}/health/ready`);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** Which of the two answered the list, and what it said. */
async function readList() {
  const before = servers.standby.statements('list') + servers.primary.statements('list') * 1_000_000;
  const answer = await list();
  expect(answer.body.responseCode).toBe('00');
  const sent = servers.standby.statements('list') + servers.primary.statements('list') * 1_000_000 - before;
  return { answer, from: sent >= 1_000_000 ? 'primary' : sent > 0 ? 'standby' : 'none' };
}

const untilReadFrom = (server: 'primary' | 'standby') =>
  waitUntil(`lists are read from the ${server}`, async () => (await readList()).from === server);

test('Get Tickets and lists are read from the standby, and the primary is not asked', async () => {
  await untilReadFrom('standby');
  const before = servers.primary.statements('tickets') + servers.primary.statements('list');
  const { body } = await partner.tickets();
  expect(body.responseData).toMatchObject([{ id: ticketId, count: 1_000 }]);
  await registerAndFinalize(servers.db, partner, ticketId, 2);
  await servers.caughtUp();
  const found = await waitUntil('the list is there', async () => {
    const { answer } = await readList();
    const { registrations } = answer.body.responseData as { registrations: unknown[] };
    return registrations.length === 2 && registrations;
  });
  expect(found).toMatchObject([{ state: 'confirmed' }, { state: 'confirmed' }]);
  expect(servers.primary.statements('tickets') + servers.primary.statements('list')).toBe(before);
  expect(await health()).toMatchObject({ status: 200, body: { status: 'ok', replica: 'up' } });
});

test('a cursor from the primary leads a standby that lags neither back nor past anything', async () => {
  await servers.pause();
  await registerAndFinalize(servers.db, partner, ticketId, 3);
  const of = { shardId: gala.shardId, eventId: gala.eventId, partnerId: gala.partnerId };
  const pageOf = async (db: Database, after: string, limit = 10) => {
    const page = await listRegistrations(db, of, Number(after), limit);
    return typeof page === 'string' ? page : { ...page, serials: page.rows.map(({ serial }) => serial) };
  };
  const seen = await pageOf(servers.db, '0', 2);
  if (typeof seen === 'string') throw new Error(seen);
  await using standby = servers.standby.connect();
  // The route then asks the primary.
  expect(await pageOf(standby, seen.cursor)).toBe('cursor-ahead');
  const answer = await partner.request(`/api/v1/events/registrations?after=${seen.cursor}`);
  expect(answer.body.responseData).toMatchObject({ registrations: [{ state: 'confirmed' }], more: false });
  await servers.resume();
  await servers.caughtUp();
  const rest = await pageOf(standby, seen.cursor);
  expect(rest).toEqual(await pageOf(servers.db, seen.cursor));
  expect(rest).toMatchObject({ serials: [expect.any(Number)] });
});

test.each(['down', 'silent'] as const)(
  'a standby that is %s fails no read, and is reported; when it is back it is read',
  async (mode) => {
    await untilReadFrom('standby');
    wire.setMode(mode);
    const slowest = { ms: 0 };
    await waitUntil('lists are read from the primary, and it is reported', async () => {
      const startedAt = performance.now();
      const { from } = await readList();
      expect((await partner.tickets()).body.responseCode).toBe('00');
      slowest.ms = Math.max(slowest.ms, performance.now() - startedAt);
      const { status, body } = await health();
      expect(status).toBe(200);
      return from === 'primary' && body['replica'] === 'down';
    });
    expect(slowest.ms).toBeLessThan(3_000);
    expect(api.log()).toContain('DATABASE_REPLICA_URL');
    wire.setMode('pass');
    await untilReadFrom('standby');
    expect((await health()).body['replica']).toBe('up');
  },
);

test('a standby that crashes under load fails no read, and is read again after its restart', async () => {
  await untilReadFrom('standby');
  const codes = new Map<string, number>();
  const loaded = new AbortController();
  const load = async () => {
    while (!loaded.signal.aborted)
      for (const { body } of [await list(), await partner.tickets()])
        codes.set(body.responseCode, (codes.get(body.responseCode) ?? 0) + 1);
  };
  const loads = Array.from({ length: 4 }, load);
  await servers.standby.kill();
  const atCrash = codes.get('00') ?? 0;
  await waitUntil('reads go on', () => (codes.get('00') ?? 0) > atCrash + 200);
  await servers.standby.start();
  const before = servers.standby.statements('list');
  await waitUntil('it is read again', () => servers.standby.statements('list') > before);
  loaded.abort();
  await Promise.all(loads);
  expect([...codes.keys()]).toEqual(['00']);
});

test('without the primary nothing is read from the standby', async () => {
  await untilReadFrom('standby');
  await using primary = servers.primary.connect();
  await using replica = servers.standby.connect();
  await using reads = new ReplicaReads({ primary, marks: primary, replica }, createLogger('test', 'silent'));
  // Past the API's keys, which are read from the primary and would hide what comes behind them.
  const readIsFromStandby = async () => {
    const { value } = await reads.read((db) =>
      sql<{ is: boolean }>`select pg_is_in_recovery() as is`.execute(db),
    );
    return value.rows[0]!.is;
  };
  await waitUntil('the standby is read', readIsFromStandby);
  await servers.primary.kill();
  try {
    await waitUntil('nothing is read', () =>
      readIsFromStandby().then(
        () => false,
        () => true,
      ),
    );
    for (let round = 0; round < 20; round += 1) await expect(readIsFromStandby()).rejects.toThrow();
    await waitUntil('lists are answered 90', async () => (await list()).body.responseCode === '90');
    const before = servers.standby.statements('list') + servers.standby.statements('tickets');
    for (let round = 0; round < 20; round += 1)
      expect([(await list()).body.responseCode, (await partner.tickets()).body.responseCode]).toEqual([
        '90',
        '90',
      ]);
    expect(servers.standby.statements('list') + servers.standby.statements('tickets')).toBe(before);
  } finally {
    await servers.primary.start();
  }
  await untilReadFrom('standby');
});

test('after a failover a standby that follows is read when a restartpoint has noted the new timeline', async () => {
  await untilReadFrom('standby');
  await servers.primary.stop();
  await writeFile(path.join(servers.primary.dataDir, 'standby.signal'), '');
  await servers.primary.start();
  await using primary = servers.primary.connect();
  await using standby = servers.standby.connect();
  await sql`select pg_promote()`.execute(primary);
  await servers.caughtUp();
  await expectUnread('it follows another server');
  await sql`checkpoint`.execute(primary);
  await servers.caughtUp();
  await sql`checkpoint`.execute(standby);
  await untilReadFrom('standby');
}, 120_000);

// The last one: the standby is none any more.
test('a standby that was promoted is not read, nor when it calls itself a standby again', async () => {
  await untilReadFrom('standby');
  await using promoted = servers.standby.connect();
  await sql`select pg_promote()`.execute(promoted);
  await sql`update tickets set title = 'of another history' where id = ${ticketId}`.execute(promoted);
  await expectUnread('it is not a standby');
  await sql`checkpoint`.execute(promoted);
  await promoted.destroy();
  await servers.standby.stop();
  await writeFile(path.join(servers.standby.dataDir, 'standby.signal'), '');
  await servers.standby.start();
  await expectUnread('it follows another server');
}, 120_000);

async function expectUnread(problem: string): Promise<void> {
  await waitUntil(problem, async () => {
    const { body } = await health();
    // Only the log says why.
    return body['replica'] === 'down' && api.log().includes(`"reason":"${problem}`);
  });
  const before = servers.standby.statements('list') + servers.standby.statements('tickets');
  await finalize(servers.db);
  for (let round = 0; round < 20; round += 1) {
    expect((await list()).body.responseCode).toBe('00');
    expect(JSON.stringify((await partner.tickets()).body)).not.toContain('of another history');
  }
  expect(servers.standby.statements('list') + servers.standby.statements('tickets')).toBe(before);
}
