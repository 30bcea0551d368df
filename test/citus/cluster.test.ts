import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { connect, type Database } from '@floodgate/database';
import { moveEventAction, perform } from '@floodgate/events/actions';
import { reconcile } from '@floodgate/registrations';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { runCli, startApiProcess, startWorkerProcess } from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';

// The same code on a Citus cluster. TEST_CITUS_URL: its coordinator. CITUS_CLUSTER: a program that ends and starts the servers
// of its workers (kill 1, start 1).

const url = process.env['TEST_CITUS_URL'] ?? '';
const cluster = process.env['CITUS_CLUSTER'] ?? '';
const redisUrl = inject('redisUrl');
const missing = url === '' || redisUrl === null ? ' (no TEST_CITUS_URL, or no Redis)' : '';

describe.skipIf(missing)(`on a Citus cluster${missing}`, () => {
  let db: Database;
  let env: Record<string, string>;
  let apis: Awaited<ReturnType<typeof startApiProcess>>[];
  let worker: Awaited<ReturnType<typeof startWorkerProcess>>;

  beforeAll(async () => {
    db = connect({ connectionString: url, applicationName: 'tests', maxConnections: 4 });
    env = { DATABASE_URL: url, QUEUE_URL: redisUrl!, QUEUE_NAMESPACE: `citus${randomUUID().slice(0, 8)}` };
    const { code, output } = await runCli({ DATABASE_URL: url }, 'migrate', '--shards', '32');
    expect(code, output).toBe(0);
    apis = [await startApiProcess(env), await startApiProcess(env)];
    worker = await startWorkerProcess(env);
  }, 120_000);
  afterAll(async () => {
    await Promise.all([...apis, worker].map(({ end }) => end()));
    await db.destroy();
  });

  /** Where the events of a shard are stored: the port of its server. */
  async function serverOf(shardId: number): Promise<number> {
    const { rows } = await sql<{ port: number }>`
      select nodeport as port
      from pg_dist_placement join pg_dist_node using (groupid)
      where shardid = get_shard_id_for_distribution_column('tickets', ${shardId}::integer)`.execute(db);
    return rows[0]!.port;
  }

  /** One after the other, so that each gets a shard of its own. */
  async function createFixtures(count: number): Promise<Fixture[]> {
    const fixtures: Fixture[] = [];
    while (fixtures.length < count) fixtures.push(await createFixture(db));
    return fixtures;
  }

  const clientOf = (fixture: Fixture, api = 0) => new PartnerClient(apis[api]!.baseUrl, fixture);

  async function register(fixture: Fixture, ticketId: number, count: number): Promise<string[]> {
    const answers = await Promise.all(
      Array.from({ length: count }, (_, index) => clientOf(fixture, index % 2).register(attendee(ticketId))),
    );
    return answers.map(({ body }) => body.responseCode);
  }

  async function confirmedOf(fixture: Fixture): Promise<string[]> {
    const { body } = await clientOf(fixture).request('/api/v1/events/registrations?limit=1000');
    const { registrations } = body.responseData as { registrations: { passReference: string }[] };
    return registrations.map(({ passReference }) => passReference);
  }

  test('migrate spreads the tables, each shard in a place of its own, and does nothing the second time', async () => {
    const { rows } = await sql<{ shards: number; places: number }>`
      select count(*)::integer as shards,
        count(distinct get_shard_id_for_distribution_column('tickets', id))::integer as places
      from shards`.execute(db);
    expect(rows).toEqual([{ shards: 32, places: 32 }]);
    expect(await runCli({ DATABASE_URL: url }, 'migrate')).toEqual({ code: 0, output: 'nothing to do\n' });
  });

  test('every seat of every event is sold once, finalized, and listed', async () => {
    const fixtures = await createFixtures(8);
    const tickets = await Promise.all(fixtures.map((fixture) => fixture.addTicket({ capacity: 20 })));
    expect(new Set(fixtures.map(({ shardId }) => shardId)).size).toBeGreaterThan(1);
    const codes = await Promise.all(fixtures.map((fixture, index) => register(fixture, tickets[index]!, 30)));
    for (const given of codes)
      expect(given.toSorted()).toEqual([...Array<string>(20).fill('00'), ...Array<string>(10).fill('32')]);
    for (const fixture of fixtures)
      await waitUntil('all are confirmed', async () => (await confirmedOf(fixture)).length === 20);
    expect(await reconcile(db)).toEqual([]);
  });

  test('keys and attendees are unique over all APIs', async () => {
    const fixture = await createFixture(db, 'reject');
    const ticketId = await fixture.addTicket();
    const header = { 'idempotency-key': randomUUID() };
    const one = await clientOf(fixture).register(attendee(ticketId), header);
    const again = await clientOf(fixture, 1).register(attendee(ticketId), header);
    expect([one.body, again.headers.get('idempotent-replayed')]).toEqual([again.body, 'true']);
    const other = attendee(ticketId, { emailAddress: 'john@example.com' });
    const rivals = await Promise.all([0, 1, 0, 1].map((api) => clientOf(fixture, api).register(other)));
    expect(rivals.map(({ body }) => body.responseCode).toSorted()).toEqual(['00', '33', '33', '33']);
  });

  test('an event that nobody has registered for can be moved, and no other', async () => {
    const fixture = await createFixture(db);
    const ticketId = await fixture.addTicket();
    const { rows } = await sql<{ id: number }>`
      select id from shards where id <> ${fixture.shardId} order by id limit 1`.execute(db);
    const shardId = rows[0]!.id;
    const move = () => perform(db, moveEventAction, { eventId: fixture.eventId, shardId }, 'test');
    expect(await move()).toMatchObject({ from: fixture.shardId, shardId });
    expect(await register(fixture, ticketId, 1)).toEqual(['00']);
    const back = { eventId: fixture.eventId, shardId: fixture.shardId };
    await expect(perform(db, moveEventAction, back, 'test')).rejects.toThrow('somebody has registered');
  });

  test.skipIf(cluster === '')(
    'while one server is away the events of the others go on, and its own come back',
    async () => {
      const control = (...args: string[]) => expect(spawnSync(cluster, args).status).toBe(0);
      const fixtures = await createFixtures(16);
      const ports = await Promise.all(fixtures.map(({ shardId }) => serverOf(shardId)));
      const tickets = await Promise.all(fixtures.map((fixture) => fixture.addTicket()));
      const [dead] = await sql<{ port: number }>`
      select min(nodeport) as port from pg_dist_node where groupid > 0`
        .execute(db)
        .then(({ rows }) => rows);
      const registerAll = () =>
        Promise.all(fixtures.map((fixture, index) => register(fixture, tickets[index]!, 1)));
      // Both servers have some; by chance they would not once in 30,000 times.
      expect(new Set(ports).size).toBe(2);
      expect((await registerAll()).flat()).toEqual(Array(16).fill('00'));
      control('kill', '1');
      onTestFinished(() => void spawnSync(cluster, ['start', '1']));
      const codes = (await registerAll()).flat();
      expect(codes).toEqual(
        ports.map((port) => (port === dead!.port ? expect.stringMatching(/^9[01]$/) : '00')),
      );
      control('start', '1');
      await waitUntil('all serve again', async () =>
        (await registerAll()).flat().every((code) => code === '00'),
      );
      await waitUntil('the books balance', async () => (await reconcile(db)).length === 0);
    },
  );
});
