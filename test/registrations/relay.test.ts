import { sql } from 'kysely';
import { afterAll, beforeEach, expect, vi } from 'vitest';
import { relayDueBatches, type ShardBatches } from '@floodgate/registrations';
import { database, test } from '../harness/database-test.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { TestQueue } from '../harness/test-queue.ts';
import { waitUntil } from '../harness/wait-until.ts';

// Rounds of the relay, one at a time. That a worker runs them is shown elsewhere.

let proxy: TcpProxy;
let queue: TestQueue;

test.beforeAll(async () => {
  proxy = await TcpProxy.start(database.url);
  queue = await TestQueue.open(proxy.through(database.url));
});

afterAll(async () => {
  await queue.close();
  await proxy.stop();
});

beforeEach(() => sql`truncate batches`.execute(database.db));

const addDueBatches = (count: number, shardId = 0) =>
  sql`
    insert into batches (shard_id, id, size, first_serial, last_serial, relay_at)
    select ${shardId}::integer, gen_random_uuid(), 1, 1, 1, now() from generate_series(1, ${count}::integer)`.execute(
    database.db,
  );

const neverCalled = () => Promise.reject(new Error('it was not to be called, or Postgres is away as well'));

const rows = () => database.db.selectFrom('batches').selectAll().orderBy('id').execute();

test('a backlog is enqueued 100 batches at a time, and the relay says whether there may be more', async () => {
  await addDueBatches(101);
  const producer = await queue.produce();
  const { runs } = queue.consume();
  const rounds = [1, 2, 3].map(
    () => () => relayDueBatches({ db: database.db, producer, finalize: neverCalled }),
  );
  const answers: string[] = [];
  for (const round of rounds) answers.push(await round());
  expect(answers).toEqual(['more', 'done', 'done']);
  await waitUntil('both jobs have run', () => runs.length === 2);
  expect(new Set(runs.map(({ batchIds }) => batchIds.length))).toEqual(new Set([100, 1]));
  const ids = (await rows()).map(({ id }) => id);
  expect(runs.flatMap(({ batchIds }) => batchIds).toSorted()).toEqual(ids.toSorted());
});

test('where neither the queue nor Postgres takes them, batches are due again a second later, as if they had never been leased', async () => {
  await addDueBatches(2);
  const before = await rows();
  const producer = queue.openProducer();
  proxy.setMode('down');
  await expect(relayDueBatches({ db: database.db, producer, finalize: neverCalled })).rejects.toThrow();
  proxy.setMode('pass');
  const after = await rows();
  const now = await sql<{ now: Date }>`select now()`.execute(database.db);
  expect(after.map(({ enqueues }) => enqueues)).toEqual(before.map(({ enqueues }) => enqueues));
  for (const { relay_at: dueAt } of after) {
    expect(Number(dueAt)).toBeGreaterThan(Number(before[0]!.relay_at));
    expect(Number(dueAt) - Number(now.rows[0]!.now)).toBeLessThanOrEqual(1_000);
  }
});

test('where the queue refuses them, the relay finalizes by itself, and asks it no more in this round', async () => {
  await sql`insert into shards (id) values (1) on conflict do nothing`.execute(database.db);
  await addDueBatches(1);
  await addDueBatches(1, 1);
  const producer = queue.openProducer();
  const enqueue = vi.spyOn(producer, 'enqueue');
  proxy.setMode('down');
  const finalized: ShardBatches[] = [];
  const finalize = (batches: ShardBatches) => Promise.resolve(void finalized.push(batches));
  expect(await relayDueBatches({ db: database.db, producer, finalize })).toBe('done');
  proxy.setMode('pass');
  expect(finalized.map(({ shardId }) => shardId)).toEqual([0, 1]);
  expect(enqueue).toHaveBeenCalledTimes(1);
});

test('while the queue is known to be down, the relay finalizes by itself', async () => {
  await addDueBatches(2);
  const nowhere = new TestQueue('redis://127.0.0.1:1');
  const finalized: ShardBatches[] = [];
  const finalize = (batches: ShardBatches) => Promise.resolve(void finalized.push(batches));
  expect(await relayDueBatches({ db: database.db, producer: nowhere.openProducer(), finalize })).toBe('done');
  const batchIds = (await rows()).map(({ id }) => id);
  expect(finalized.map((batches) => ({ ...batches, batchIds: batches.batchIds.toSorted() }))).toEqual([
    { shardId: 0, batchIds },
  ]);
  await nowhere.close();
});
