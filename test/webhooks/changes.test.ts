import type { Database } from '@floodgate/database';
import { advance, leaseConsumers } from '@floodgate/journal';
import { createEndpointRun } from '@floodgate/webhooks/deliver/serve-endpoint';
import { expireAttempts, recordAttempt } from '@floodgate/webhooks/deliver/attempts';
import { listEndpoints, type Endpoint } from '@floodgate/webhooks/endpoints';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { emptyTables } from '../harness/empty-tables.ts';
import { createFixture } from '../harness/fixture.ts';
import { keptLog } from '../harness/kept-log.ts';
import { waitForLockWaiters } from '../harness/lock-waiters.ts';
import { tablesOf } from '../harness/stored-tables.ts';
import { addWebhook, changeWebhook, confirmSome } from '../harness/webhooks.ts';

const { test, given } = databaseTest({ own: 'counts, empties or compares whole tables' });

// What partners change while somebody delivers.

const FROM_START = { since: new Date(0).toISOString() };

test.for([
  ['update', { url: 'https://partner.example/other' }],
  ['resume', {}],
  ['replay', FROM_START],
  ['delete', {}],
] as const)(
  'a %s waits for a delivery that is being noted, and the delivery never for it',
  async ([name, input]) => {
    const { db } = given.database;
    const fixture = await createFixture(db);
    const { shardId } = fixture;
    const { endpoint } = await addWebhook(db, fixture, { url: 'https://partner.example/' });
    await confirmSome(db, fixture, await fixture.addTicket());
    const consumers = await leaseConsumers(db, shardId, 'webhook', 10);
    const consumer = consumers.find(({ id }) => id === endpoint.id)!;
    let changed: Promise<unknown> | undefined;
    await db.transaction().execute(async (noting) => {
      expect(await advance(noting, consumer, 0)).toBe(true);
      changed = changeWebhook(db, endpoint, name, input);
      await waitForLockWaiters(db, 1);
      await sql`
        update webhook_endpoints set chain_offset = 0 where shard_id = ${shardId} and id = ${endpoint.id}`.execute(
        noting,
      );
    });
    await changed;
    // Whoever delivered goes no further.
    expect(await advance(db, consumer, 0)).toBe(false);
  },
);

test('of rotations at once one secret is current, and the webhook is listed once', async () => {
  const { db } = given.database;
  const fixture = await createFixture(db);
  const { endpoint } = await addWebhook(db, fixture, { url: 'https://partner.example/' });
  const rotate = (by: Database = db) => changeWebhook(by, endpoint, 'rotate');
  let others: ReturnType<typeof rotate>[] = [];
  await db.transaction().execute(async (first) => {
    await rotate(first);
    others = [rotate(), rotate()];
    await waitForLockWaiters(db, 2);
  });
  await Promise.all(others);
  const current = db
    .selectFrom('webhook_secrets')
    .select('id')
    .where('endpoint_id', '=', endpoint.id)
    .where('ends_at', 'is', null);
  expect(await current.execute()).toHaveLength(1);
  expect((await listEndpoints(db, fixture)).map(({ id }) => id)).toEqual([endpoint.id]);
});

test('a webhook that was deleted meanwhile gets no keys', async () => {
  const { db } = given.database;
  const fixture = await createFixture(db);
  const { endpoint } = await addWebhook(db, fixture, { url: 'https://partner.example/' });
  await changeWebhook(db, endpoint, 'delete');
  expect(await changeWebhook(db, endpoint, 'rotate')).toMatchObject({ refused: '70' });
});

test('who finds its history gone, and lost the lease to a replay, leaves the chain of that alone', async () => {
  const { db } = given.database;
  const fixture = await createFixture(db);
  const { shardId } = fixture;
  const ticketId = await fixture.addTicket();
  const { endpoint } = await addWebhook(db, fixture, { url: 'https://partner.example/' });
  for (const count of [1, 1, 1]) await confirmSome(db, fixture, ticketId, count);
  const consumer = (await leaseConsumers(db, shardId, 'webhook', 10)).find(({ id }) => id === endpoint.id)!;
  const { rows } = await sql<{ last: number }>`
    select last_offset as last from journal_segments
    where shard_id = ${shardId} and event_id = ${fixture.eventId} order by last_offset`.execute(db);
  const [first, second] = rows.map(({ last }) => last) as [number, number];
  consumer.cursor = first;
  await sql`delete from journal_segments where shard_id = ${shardId} and last_offset <= ${second}`.execute(
    db,
  );
  expect(await changeWebhook(db, endpoint, 'replay', FROM_START)).toMatchObject({
    endpoint: { cursor: second },
  });
  const onAttempt = () => expect.unreachable('nothing is sent');
  const sender = { agents: {} as never, sendsTestEvents: false, onAttempt };
  const { log, logged } = keptLog('delivery process');
  const deliver = createEndpointRun({ db, log, sender }, 1);
  expect(await deliver(consumer, new AbortController().signal)).toBe('released');
  expect(logged()).toBe('');
  const chain = db.selectFrom('webhook_endpoints').select('chain_offset').where('id', '=', endpoint.id);
  expect(await chain.executeTakeFirst()).toEqual({ chain_offset: second });
});

const FAILED = { outcome: 'failed', tookMs: 7, httpStatus: 500, error: null, retryAfterMs: null } as const;
const attemptsOf = (db: Database, { id }: Endpoint) =>
  tablesOf(db).selectFrom('webhook_attempts').select('message_id').where('endpoint_id', '=', id).execute();

test('an attempt is noted, but not of a webhook that is deleted at that moment', async () => {
  const { db } = given.database;
  const fixture = await createFixture(db);
  const { endpoint } = await addWebhook(db, fixture, { url: 'https://partner.example/' });
  await recordAttempt(db, endpoint, { id: 'msg_1' }, FAILED);
  expect(await attemptsOf(db, endpoint)).toEqual([{ message_id: 'msg_1' }]);
  let noted: Promise<unknown> | undefined;
  await db.transaction().execute(async (deleting) => {
    await changeWebhook(deleting, endpoint, 'delete');
    noted = recordAttempt(db, endpoint, { id: 'msg_2' }, FAILED);
    await waitForLockWaiters(db, 1);
  });
  await noted;
  expect(await attemptsOf(db, endpoint)).toEqual([{ message_id: 'msg_1' }]);
});

test('a webhook is deleted at once however many attempts it has; they are deleted in batches', async () => {
  const { db } = given.database;
  // The limit of a batch is that of a shard.
  await emptyTables(db, 'webhook_attempts');
  const fixture = await createFixture(db);
  const { shardId } = fixture;
  const { endpoint } = await addWebhook(db, fixture, { url: 'https://partner.example/' });
  const { endpoint: kept } = await addWebhook(db, fixture, { url: 'https://partner.example/' });
  for (const [{ id }, count] of [
    [endpoint, 7_000],
    [kept, 1],
  ] as const)
    await sql`
      insert into webhook_attempts (shard_id, endpoint_id, at, message_id, entries, took_ms, outcome)
      select ${shardId}, ${id}, now() - number * interval '1 second', 'msg', 1, 1, 'delivered'
      from generate_series(1, ${count}::integer) as number`.execute(db);
  const blocked = await db.startTransaction().execute();
  await sql`select from webhook_attempts where shard_id = ${shardId} and endpoint_id = ${endpoint.id} for update`.execute(
    blocked,
  );
  await changeWebhook(db, endpoint, 'delete');
  await blocked.rollback().execute();
  expect(await listEndpoints(db, fixture)).toMatchObject([{ id: kept.id }]);
  expect(await expireAttempts(db, shardId, 30)).toBe(true);
  expect(await attemptsOf(db, endpoint)).toHaveLength(2_000);
  expect(await expireAttempts(db, shardId, 30)).toBe(false);
  expect(await attemptsOf(db, endpoint)).toEqual([]);
  expect(await attemptsOf(db, kept)).toHaveLength(1);
});

test('attempts expire to the microsecond', async () => {
  const { db } = given.database;
  const fixture = await createFixture(db);
  const { endpoint } = await addWebhook(db, fixture, { url: 'https://partner.example/' });
  for (const id of ['msg_1', 'msg_2']) await recordAttempt(db, endpoint, { id }, FAILED);
  await sql`
    update webhook_attempts set at = '2025-01-01 00:00:00.000123Z'
    where shard_id = ${endpoint.shardId} and endpoint_id = ${endpoint.id} and message_id = 'msg_1'`.execute(
    db,
  );
  expect(await expireAttempts(db, endpoint.shardId, 30)).toBe(false);
  expect(await attemptsOf(db, endpoint)).toEqual([{ message_id: 'msg_2' }]);
});
