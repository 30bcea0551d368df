import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { distribute, migrate, type Database } from '@floodgate/database';
import { perform } from '@floodgate/audit';
import { moveEventAction } from '@floodgate/events/actions';
import { confirmBatches, failBatch, reconcile, reserveBatch } from '@floodgate/registrations';
import { updateTicketAction } from '@floodgate/tickets/actions';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../harness/free-port.ts';
import { createCitusDatabase, type CitusDatabase } from '../harness/citus-database.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { finalizePending } from '../harness/journal.ts';
import { waitForLockWaiters } from '../harness/lock-waiters.ts';
import { readPage } from '../harness/read-page.ts';
import { reservationOf } from '../harness/reservation.ts';
import { runCli, startWorkerProcess } from '../harness/service-process.ts';

// The operator's command on a Citus cluster, in a database of its own. TEST_CITUS_URL: its coordinator, which
// reaches this machine as its workers do.

const citusUrl = process.env['TEST_CITUS_URL'] ?? '';
const missing = citusUrl === '' ? ' (no TEST_CITUS_URL)' : '';
const SHARDS = 8;
const FUNCTIONS = new URL('../../packages/database/sql/functions/', import.meta.url);

describe.skipIf(missing)(`commands on a Citus cluster${missing}`, () => {
  let database: CitusDatabase;
  let db: Database;

  beforeAll(async () => {
    database = await createCitusDatabase(citusUrl);
    db = database.db;
    await migrate(db);
  });
  afterAll(() => database.drop());

  const run = (...args: string[]) =>
    runCli({ DATABASE_URL: database.url, QUEUE_URL: database.url, QUEUE_NAMESPACE: 'commands' }, ...args);

  test('each shard has a place of its own, and repeating it changes nothing', async () => {
    expect(await distribute(db, SHARDS)).toBe(true);
    expect(await distribute(db, SHARDS)).toBe(false);
    const { rows } = await sql<Record<string, number>>`
      select (select count(*) from shards) as shards,
        (select count(distinct get_shard_id_for_distribution_column('tickets', id)) from shards) as places,
        (select count(*) from shards join journal_heads on shard_id = id) as heads,
        (select count(*) from pg_dist_object
         where classid = 'pg_proc'::regclass and distribution_argument_index is not null) as functions`.execute(
      db,
    );
    expect(rows).toEqual([
      { shards: SHARDS, places: SHARDS, heads: SHARDS, functions: readdirSync(FUNCTIONS).length },
    ]);
  });

  test('a function that migrate replaces is distributed again', async () => {
    await sql`update schema_files set hash = 'another' where name = 'reserve_batch'`.execute(db);
    expect(await migrate(db)).toEqual(['reserve_batch']);
    expect(await distribute(db, SHARDS)).toBe(false);
  });

  test('another number of shards is refused, the same is fine', async () => {
    expect((await run('migrate', '--shards', String(SHARDS))).code).toBe(0);
    expect(await run('migrate', '--shards', '16')).toEqual({
      code: 2,
      output: 'floodgate: --shards: the cluster has 8 shards, and their number cannot change\n',
    });
  });

  test('what cannot be done is refused in the same words as on one Postgres', async () => {
    const { eventId, partnerId, addTicket, shardId } = await createFixture(db);
    const ticketId = await addTicket({ capacity: 5, saleStartsAt: new Date(2) });
    await sql`update tickets set taken = 2 where shard_id = ${shardId} and id = ${ticketId}`.execute(db);
    expect((await run('partner', 'create', 'Twice')).code).toBe(0);
    const [event, partner, ticket] = [eventId, partnerId, ticketId].map(String) as [string, string, string];
    const refused: [string[], string][] = [
      [['partner', 'create', 'Twice'], 'a partner of this name already exists'],
      [['event', 'grant', '999999', partner], 'no such event'],
      [['event', 'grant', event, '999999'], 'no such partner'],
      [['shard', 'move', event, '999999'], 'no such shard'],
      [['shard', 'move', '999999', '0'], 'no such event'],
      [['ticket', 'create', '999999', '--title', 'VIP', '--capacity', '1'], 'no such event'],
      [['ticket', 'update', ticket, '--capacity', '1'], 'the number of seats that are taken already'],
      [['ticket', 'update', ticket, '--sale-ends', '1970-01-01T00:00:00Z'], 'must start before it ends'],
      [['key', 'issue', '999999'], 'no such partner'],
      [['partner', 'limit', '999999', '5'], 'no such partner'],
    ];
    for (const [args, words] of refused)
      expect(await run(...args), args.join(' ')).toEqual({
        code: 1,
        output: expect.stringMatching(new RegExp(`^floodgate: .*${words}\n$`)) as string,
      });
    await sql`update tickets set taken = 0 where shard_id = ${shardId} and id = ${ticketId}`.execute(db);
  });

  test('sold out and reopened alternate', async () => {
    const fixture = await createFixture(db);
    const ticketId = await fixture.addTicket({ capacity: 1 });
    const { shardId } = fixture;
    const setCapacity = async (capacity: number) => {
      await perform(db, updateTicketAction, { ticketId, capacity }, 'test');
      await finalizePending(db, shardId);
    };
    for (const capacity of [2, 3]) {
      const batchId = randomUUID();
      await reserveBatch(db, batchId, [reservationOf(fixture, ticketId)]);
      await confirmBatches(db, { shardId, batchIds: [batchId] });
      await setCapacity(capacity);
    }
    await setCapacity(2);
    const { entries } = await readPage(db, { ...fixture, partnerId: 0 }, 0, 10);
    expect(entries.map(({ kind }) => kind)).toEqual([
      'sold_out',
      'reopened',
      'sold_out',
      'reopened',
      'sold_out',
    ]);
  });

  test('a ticket that is created while its event is moved goes with it', async () => {
    const { eventId, shardId, addTicket } = await createFixture(db);
    const { rows } = await sql<{ id: number }>`select id from shards where id <> ${shardId} limit 1`.execute(
      db,
    );
    const moving = await db.startTransaction().execute();
    onTestFinished(async () => void (moving.isCommitted || (await moving.rollback().execute())));
    await perform(moving, moveEventAction, { eventId, shardId: rows[0]!.id }, 'test');
    const creating = addTicket();
    await waitForLockWaiters(db, 1);
    await moving.commit().execute();
    await creating;
    expect(await reconcile(db)).toEqual([]);
  });

  describe('while a server is away', () => {
    let near: Fixture;
    let far: Fixture;
    let away: number[];
    let tickets: { near: number; far: number };
    let failed: string[];

    beforeAll(async () => {
      const { rows } = await sql<{ id: number; is_far: boolean }>`
        select id, nodeport = ${database.proxyPort}::integer as is_far from shards
        join pg_dist_placement on shardid = get_shard_id_for_distribution_column('tickets', id)
        join pg_dist_node using (groupid) order by id`.execute(db);
      away = rows.filter(({ is_far }) => is_far).map(({ id }) => id);
      const fixtures: Fixture[] = [];
      const isFar = ({ shardId }: Fixture) => away.includes(shardId);
      while (!fixtures.some(isFar) || fixtures.every(isFar)) fixtures.push(await createFixture(db));
      far = fixtures.find(isFar)!;
      near = fixtures.find((fixture) => !isFar(fixture))!;
      tickets = { near: await near.addTicket(), far: await far.addTicket() };
      failed = [];
      for (const fixture of [near, far]) {
        const batchId = randomUUID();
        await reserveBatch(db, batchId, [reservationOf(fixture, await fixture.addTicket())]);
        await failBatch(db, fixture.shardId, batchId, '23514');
        failed.push(batchId);
      }
    });

    /** From here on, until the test has ended. */
    function takeAway(): void {
      database.proxy.setMode('down');
      onTestFinished(() => database.proxy.setMode('pass'));
    }

    test('a ticket of the others can be changed, and one that is not found may be of those', async () => {
      takeAway();
      const update = (id: number) => run('ticket', 'update', String(id), '--title', 'Seated');
      expect((await update(tickets.near)).code).toBe(0);
      expect(await update(tickets.far)).toEqual({
        code: 1,
        output: `floodgate: found no such ticket, but these shards do not answer: ${away.join(', ')}\n`,
      });
      const create = (event: Fixture) =>
        run('ticket', 'create', String(event.eventId), '--title', 'New', '--capacity', '1');
      expect((await create(near)).code).toBe(0);
      expect((await create(far)).output).toContain('a server of the Citus cluster does not answer');
    });

    test('reconcile reads the others and names those that were not read', async () => {
      await sql`update tickets set taken = 7 where shard_id = ${near.shardId} and id = ${tickets.near}`.execute(
        db,
      );
      takeAway();
      const { code, output } = await run('reconcile');
      expect(code).toBe(1);
      expect(output).toContain(`shard ${near.shardId}: ticket ${tickets.near}`);
      for (const shardId of away)
        expect(output).toMatch(new RegExp(`^shard ${shardId} +does not answer`, 'm'));
      expect(output).toContain(`not balanced: 1 found; shards that do not answer: ${away.length}`);
      await sql`update tickets set taken = 0 where shard_id = ${near.shardId} and id = ${tickets.near}`.execute(
        db,
      );
    });

    test('queue status and the health of a worker count what waits in the others', async () => {
      const env = { DATABASE_URL: database.url, QUEUE_URL: database.url, QUEUE_NAMESPACE: 'commands' };
      const port = await findFreePort();
      const worker = await startWorkerProcess({ ...env, WORKER_PORT: String(port) });
      onTestFinished(async () => void (await worker.end()));
      takeAway();
      const { code, output } = await run('queue', 'status');
      expect([code, output]).toEqual([1, expect.stringMatching(/^failed batches +1$/m)]);
      expect(output).toContain(`these shards do not answer: ${away.join(', ')}`);
      const response = await fetch(`http://127.0.0.1:${port}/health/ready`);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({
        progress: { queues: { finalize: { backlog: { failedBatches: 1, shardsAway: away } } } },
      });
    });

    test('redrive does what it can, and the rest when they are back', async () => {
      takeAway();
      const first = await run('redrive', '--wait', '0');
      expect([first.code, first.output]).toEqual([1, expect.stringContaining('failed in total: 0')]);
      expect(first.output).toContain(`these shards do not answer: ${away.join(', ')}`);
      const unknown = await run('redrive', failed[1]!, '--wait', '0');
      expect(unknown.output).toContain('no failed batch has this id; these shards do not answer');
      database.proxy.setMode('pass');
      expect((await run('redrive', failed[1]!, '--wait', '0')).code).toBe(0);
    });
  });
});
