import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { assertGranted, SERVICES, type Database, type ServiceName } from '@floodgate/database';
import { connectInTest } from '../harness/connect-in-test.ts';
import { isRunning } from '../harness/is-running.ts';
import { perform } from '@floodgate/audit';
import { moveEventAction } from '@floodgate/events/actions';
import { deleteOldSegments } from '@floodgate/journal';
import { limitPartner, listKeys } from '@floodgate/partners';
import {
  confirmBatches,
  deleteExpiredIdempotencyKeys,
  failBatch,
  forgetExpiredKeys,
  leaseDueBatches,
  readBacklog,
  reconcile,
  reserveBatch,
  type Reservation,
} from '@floodgate/registrations';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { attendeesReadBy, differencesOnShards } from '../harness/cluster-roles.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { moveToAnotherServer, serverOfShard } from '../harness/move-shard.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { reservationOf } from '../harness/reservation.ts';
import { runCli, startApiProcess, startWorkerProcess } from '../harness/service-process.ts';
import { createServiceRoles, grantServiceRoles, roleOf, withRole } from '../harness/service-roles.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { tablesOf } from '../harness/stored-tables.ts';

// The same code on a Citus cluster. TEST_CITUS_URL: its coordinator. CITUS_CLUSTER: a program that ends and
// starts the servers of its workers (kill 1, start 1).

const url = process.env['TEST_CITUS_URL'] ?? '';
const cluster = process.env['CITUS_CLUSTER'] ?? '';
const redisUrl = inject('redisUrl');
const missing = url === '' || redisUrl === null ? ' (no TEST_CITUS_URL, or no Redis)' : '';

describe.skipIf(missing)(`on a Citus cluster${missing}`, () => {
  let db: Database;
  let roles: Record<ServiceName, Database>;
  let apis: Awaited<ReturnType<typeof startApiProcess>>[];
  let worker: Awaited<ReturnType<typeof startWorkerProcess>>;

  beforeAll(async () => {
    db = connectInTest(url, 4);
    const queue = { QUEUE_URL: redisUrl!, QUEUE_NAMESPACE: `citus${randomUUID().slice(0, 8)}` };
    const env = (service: ServiceName) => ({ ...queue, DATABASE_URL: urlOf(service), LOG_LEVEL: 'trace' });
    const { code, output } = await runCli({ DATABASE_URL: url }, 'migrate', '--shards', '32');
    expect(code, output).toBe(0);
    await createServiceRoles(db, url);
    await grantServiceRoles(db);
    const connectAs = (service: ServiceName) => connectInTest(urlOf(service), 2);
    roles = {
      api: connectAs('api'),
      worker: connectAs('worker'),
      delivery: connectAs('delivery'),
      console: connectAs('console'),
    };
    apis = [await startApiProcess(env('api')), await startApiProcess(env('api'))];
    worker = await startWorkerProcess(env('worker'));
  });
  afterAll(async () => {
    await Promise.all([...apis, worker].map(({ end }) => end()));
    await Promise.all([db, ...Object.values(roles)].map((pool) => pool.destroy()));
  });

  const urlOf = (service: ServiceName) => withRole(roleOf(service), url);

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

  /** Registers for the ticket and cancels that. Returns the code of the last answer. */
  async function cancelOne(fixture: Fixture, ticketId: number): Promise<string> {
    const { body } = await clientOf(fixture).register(attendee(ticketId));
    if (body.responseCode !== '00') return body.responseCode;
    return (await clientOf(fixture).cancel(body.responseData as string)).body.responseCode;
  }

  async function confirmedOf(fixture: Fixture): Promise<string[]> {
    const { body } = await clientOf(fixture).request('/api/v1/events/registrations?limit=1000');
    const { registrations } = body.responseData as { registrations: { passReference: string }[] };
    return registrations.map(({ passReference }) => passReference);
  }

  /** Registers with a key, and returns what tells the state. */
  async function registerOne(fixture: Fixture, ticketId: number): Promise<() => Promise<unknown>> {
    const { body } = await clientOf(fixture).register(attendee(ticketId), {
      'idempotency-key': randomUUID(),
    });
    expect(body.responseCode).toBe('00');
    return async () => {
      const status = await clientOf(fixture).registration(body.responseData as string);
      return (status.body.responseData as { state: string }).state;
    };
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
    await expect(perform(db, moveEventAction, back, 'test')).rejects.toThrow('the event has registrations');
  });

  test('a shard that moves to another server under load keeps every seat that was sold', async () => {
    const fixture = await createFixture(db);
    const ticketId = await fixture.addTicket({ capacity: 1_000_000 });
    const given: string[] = [];
    const moving = { isOver: false };
    // Who is in the way of a move, or finds the shard gone, asks again with the same key.
    const registerOnce = async (api: number): Promise<string> => {
      const key = { 'idempotency-key': randomUUID() };
      for (;;) {
        const { body } = await clientOf(fixture, api).register(attendee(ticketId), key);
        if (!['90', '91', '41'].includes(body.responseCode)) return body.responseCode;
      }
    };
    const load = Array.from({ length: 32 }, async (_, index) => {
      while (!moving.isOver) given.push(await registerOnce(index % 2));
    });
    try {
      for (let moves = 0; moves < 4; moves += 1) {
        const before = given.length;
        await waitUntil('some more are answered', () => given.length > before + 500);
        await moveToAnotherServer(db, fixture.shardId);
      }
    } finally {
      moving.isOver = true;
      await Promise.all(load);
    }
    expect(new Set(given)).toEqual(new Set(['00']));
    const sold = given.length;
    const { rows } = await sql<{ stored: number; taken: number }>`
      select (select count(*)::integer from registrations where shard_id = ${fixture.shardId} and ticket_id = ${ticketId}) as stored,
        (select taken from tickets where shard_id = ${fixture.shardId} and id = ${ticketId}) as taken`.execute(
      db,
    );
    expect(rows).toEqual([{ stored: sold, taken: sold }]);
    await waitUntil('all are confirmed', async () => (await readBacklog(db)).pendingBatches === 0);
    expect(await reconcile(db)).toEqual([]);
  });

  test('any server registers and finalizes for the shards of all', async () => {
    const fixtures = await createFixtures(8);
    const reservations = await Promise.all(
      fixtures.map(async (fixture) => reservationOf(fixture, await fixture.addTicket())),
    );
    const { rows: servers } = await sql<{ port: number }>`
      select nodeport as port from pg_dist_node where isactive`.execute(db);
    for (const { port } of servers) {
      await using there = connectInTest(urlAt(port));
      for (const reservation of reservations) {
        const batchId = randomUUID();
        expect(await reserveBatch(there, batchId, [reservation])).toMatchObject([{ kind: 'registered' }]);
        await confirmBatches(there, { shardId: reservation.shardId, batchIds: [batchId] });
      }
    }
    expect(await reconcile(db)).toEqual([]);
  });

  function urlAt(port: number): string {
    const server = new URL(url);
    server.port = String(port);
    return server.href;
  }

  describe('the roles of API and worker', () => {
    test('hold the same on every shard as on the table, and nothing else', async () => {
      for (const service of SERVICES) expect(await differencesOnShards(db, roleOf(service))).toEqual([]);
    });

    test('lose by the next grant what was given by hand, on every shard', async () => {
      const role = roleOf('api');
      await sql`grant select (full_name) on registrations to ${sql.id(role)}`.execute(db);
      await sql`grant delete on batches to ${sql.id(role)}`.execute(db);
      const mayRead = () =>
        tablesOf(roles.api).selectFrom('registrations').select('full_name').limit(1).execute();
      await expect(mayRead()).resolves.toBeDefined();
      await grantServiceRoles(db);
      await expect(mayRead()).rejects.toMatchObject({ code: '42501' });
      expect(await differencesOnShards(db, role)).toEqual([]);
    });

    test.for(SERVICES)('tell the %s at its start what they lack', async (service) => {
      await expect(assertGranted(roles[service], service)).resolves.toBeUndefined();
      await sql`revoke select on batches from ${sql.id(roleOf(service))}`.execute(db);
      await expect(assertGranted(roles[service], service)).rejects.toThrow(/lacks select on batches/);
      await grantServiceRoles(db);
      await expect(assertGranted(roles[service], service)).resolves.toBeUndefined();
    });

    test('register, tell the state, note the key, and hold partners to one limit', async () => {
      const fixture = await createFixture(db);
      const ticketId = await fixture.addTicket();
      const [status] = [await registerOne(fixture, ticketId)];
      await waitUntil('it is confirmed', async () => (await status()) === 'confirmed');
      expect((await clientOf(fixture).tickets()).body.responseData).toMatchObject([
        { id: ticketId, count: 999 },
      ]);
      await waitUntil('the use of its key is noted', async () =>
        (await listKeys(db, fixture.partnerId)).every(({ lastUsedAt }) => lastUsedAt !== null),
      );
      await limitPartner(db, fixture.partnerId, 1_000);
      await waitUntil('it is limited', async () =>
        (await clientOf(fixture).tickets()).headers.has('ratelimit-policy'),
      );
      const { rows } = await sql`
        select from rate_limit_windows where id = ${fixture.partnerId}`.execute(db);
      expect(rows).toHaveLength(1);
      for (const { output } of apis) expect(output()).not.toContain('rate limits are not shared');
    });

    test('find which ticket somebody holds, and sell the others', async () => {
      const fixture = await createFixture(db);
      const [held, free] = [await fixture.addTicket(), await fixture.addTicket()];
      const rival = await db.startTransaction().execute();
      onTestFinished(async () => void (rival.isCommitted || (await rival.rollback().execute())));
      await sql`
        select from tickets where shard_id = ${fixture.shardId} and id = ${held} for update`.execute(rival);
      const answers = await Promise.all(
        [held, free].map((ticketId) => clientOf(fixture).register(attendee(ticketId))),
      );
      expect(answers.map(({ body }) => body.responseCode)).toEqual(['90', '00']);
      expect(apis[0]!.output()).toContain('another transaction keeps a ticket locked');
    });

    test('repeat batches, and forget keys', async () => {
      const { api, worker: finalizer } = roles;
      const fixture = await createFixture(db);
      const { shardId } = fixture;
      const ticketId = await fixture.addTicket();
      const reservation = reservationOf(fixture, ticketId, {
        idempotency: { key: randomUUID(), fingerprint: randomUUID() },
      });
      const [committed, lost] = [randomUUID(), randomUUID()];
      expect(await reserveBatch(api, committed, [reservation])).toMatchObject([{ kind: 'registered' }]);
      const repeat = (batchId: string, one: Reservation) =>
        reserveBatch(api, batchId, [one], { isRepeat: true });
      expect(await repeat(committed, reservation)).toMatchObject([{ kind: 'registered', replayed: false }]);
      const unkeyed = { ...reservation, idempotency: null };
      expect(await repeat(lost, unkeyed)).toMatchObject([{ kind: 'registered' }]);
      await expect(reserveBatch(api, lost, [unkeyed])).rejects.toMatchObject({ code: '23505' });
      await sql`
        update idempotency_keys set created_at = now() - interval '2 days'
        where shard_id = ${shardId}`.execute(db);
      await forgetExpiredKeys(api, [reservation]);
      const keys = tablesOf(db).selectFrom('idempotency_keys').where('shard_id', '=', shardId);
      expect(await keys.where('key', '=', reservation.idempotency!.key).select('key').execute()).toEqual([]);
      await expect(deleteExpiredIdempotencyKeys(finalizer, shardId, 1_000)).resolves.toBeTypeOf('number');
      await expect(deleteOldSegments(finalizer, shardId, 36_500, 1_000)).resolves.toBe(0);
    });

    test('lease, give back, confirm and give up batches', async () => {
      const { api, worker: finalizer } = roles;
      const fixture = await createFixture(db);
      const { shardId } = fixture;
      const reservation = reservationOf(fixture, await fixture.addTicket());
      const [confirmed, failed] = [randomUUID(), randomUUID()];
      for (const batchId of [confirmed, failed]) {
        await reserveBatch(api, batchId, [reservation]);
        // Our own relay is the only one that sees them in time.
        await sql`
          update batches set relay_at = now() + interval '1 hour'
          where shard_id = ${shardId} and id = ${batchId}::uuid`.execute(db);
      }
      const batches = { shardId, batchIds: [confirmed] };
      await expect(leaseDueBatches(finalizer, shardId, 10)).resolves.toEqual([]);
      await confirmBatches(finalizer, batches);
      await expect(failBatch(finalizer, shardId, failed, 'P0001')).resolves.toBe(true);
      expect((await readBacklog(finalizer)).failedBatches).toBeGreaterThan(0);
      const states = tablesOf(db)
        .selectFrom('batches')
        .where('shard_id', '=', shardId)
        .select(['id', 'state']);
      expect(await states.where('id', 'in', [confirmed, failed]).orderBy('state').execute()).toEqual([
        { id: confirmed, state: 'confirmed' },
        { id: failed, state: 'failed' },
      ]);
    });

    // Delivery sends e-mails to attendees, and operators see who they are.
    test.for(['api', 'worker'] as const)(
      'of the %s is refused what attendees have said, by whatever way',
      async (service) => {
        const fixture = await createFixture(db);
        await register(fixture, await fixture.addTicket(), 1);
        expect(await attendeesReadBy(db, roles[service], urlOf(service), fixture.shardId)).toEqual([]);
      },
    );

    test('go with a shard that moves to another server', async () => {
      const fixture = await createFixture(db);
      const ticketId = await fixture.addTicket();
      const before = await serverOfShard(db, fixture.shardId);
      await moveToAnotherServer(db, fixture.shardId);
      expect(await serverOfShard(db, fixture.shardId)).not.toBe(before);
      for (const service of SERVICES) expect(await differencesOnShards(db, roleOf(service))).toEqual([]);
      const status = await registerOne(fixture, ticketId);
      await waitUntil('it is confirmed', async () => (await status()) === 'confirmed');
      await expect(deleteExpiredIdempotencyKeys(roles.worker, fixture.shardId, 10)).resolves.toBeDefined();
    });
  });

  /** The processes that serve connections to one of the servers. */
  async function processesAt(port: number): Promise<number[]> {
    const server = new URL(url);
    server.port = String(port);
    await using there = connectInTest(server.href);
    const { rows } = await sql<{ pid: number }>`
      select pid from pg_stat_activity where backend_type = 'client backend'`.execute(there);
    return rows.map(({ pid }) => pid);
  }

  test.skipIf(cluster === '')(
    'while one server is away the events of the others go on, and its own come back',
    async () => {
      const control = (...args: string[]) => promisify(execFile)(cluster, args);
      const fixtures = await createFixtures(16);
      const ports = await Promise.all(fixtures.map(({ shardId }) => serverOfShard(db, shardId)));
      const tickets = await Promise.all(fixtures.map((fixture) => fixture.addTicket()));
      const [dead] = await sql<{ port: number }>`
      select min(nodeport) as port from pg_dist_node where groupid > 0`
        .execute(db)
        .then(({ rows }) => rows);
      const registerAll = () =>
        Promise.all(fixtures.map((fixture, index) => register(fixture, tickets[index]!, 1)));
      /** Registers for each event and cancels it. */
      const cancelAll = () =>
        Promise.all(fixtures.map((fixture, index) => cancelOne(fixture, tickets[index]!)));
      // Both servers have some; by chance they would not once in 30,000 times.
      expect(new Set(ports).size).toBe(2);
      expect((await registerAll()).flat()).toEqual(Array(16).fill('00'));
      expect(await cancelAll()).toEqual(Array(16).fill('00'));
      const processes = await processesAt(dead!.port);
      await control('kill', '1');
      // Fails where the test has started it.
      onTestFinished(async () => void (await control('start', '1').catch(() => {})));
      // What the crash of its parent leaves behind may still commit.
      await waitUntil('its processes are gone', () => !processes.some(isRunning));
      const expected = ports.map((port) => (port === dead!.port ? expect.stringMatching(/^9[01]$/) : '00'));
      expect((await registerAll()).flat()).toEqual(expected);
      expect(await cancelAll()).toEqual(expected);
      await control('start', '1');
      await waitUntil('all serve again', async () =>
        (await registerAll()).flat().every((code) => code === '00'),
      );
      await waitUntil('the books balance', async () => (await reconcile(db)).length === 0);
    },
  );
});
