import { sql } from 'kysely';
import { afterAll, beforeEach, expect } from 'vitest';
import type { JobResult, Producer } from '@floodgate/queue';
import { relayDueBatches, type ShardBatches } from '@floodgate/registrations';
import { databaseTest } from '../harness/database-test.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { enqueue, TestQueue, waitForCounts } from '../harness/test-queue.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = databaseTest({ own: 'counts, empties or compares whole tables' });

// Single rounds of the relay. Other tests run it in a worker.

let proxy: TcpProxy;
let queue: TestQueue;

test.beforeAll(async () => {
  proxy = await TcpProxy.start(given.database.url);
  queue = await TestQueue.open(proxy.through(given.database.url));
});

afterAll(async () => {
  await queue.close();
  await proxy.stop();
});

beforeEach(() => sql`truncate batches`.execute(given.database.db));

const addDueBatches = (count: number, shardId = 0) =>
  sql`
    insert into batches (shard_id, id, size, first_serial, last_serial, relay_at)
    select ${shardId}::integer, gen_random_uuid(), 1, 1, 1, now() from generate_series(1, ${count}::integer)`.execute(
    given.database.db,
  );

const ids = async () =>
  (await tablesOf(given.database.db).selectFrom('batches').select('id').execute()).map(({ id }) => id);

/** Opens a relay whose finalizer only records its batches, and returns this result or fails. */
function openRelay(producer: Producer, answer: JobResult | Error = 'done') {
  const finalized: ShardBatches[] = [];
  const finalize = (batches: ShardBatches) => {
    finalized.push(batches);
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const deps = {
    db: given.database.db,
    enqueue: (batches: ShardBatches) => enqueue(producer, batches),
    finalize,
  };
  return { finalized, relay: () => relayDueBatches(deps) };
}

test('a backlog is finalized 100 batches at a time, and the relay says whether there may be more', async () => {
  await addDueBatches(101);
  const producer = await queue.produce();
  const { finalized, relay } = openRelay(producer);
  expect([await relay(), await relay(), await relay()]).toEqual(['more', 'done', 'done']);
  expect(finalized.map(({ batchIds }) => batchIds.length)).toEqual([100, 1]);
  expect(finalized.flatMap(({ batchIds }) => batchIds).toSorted()).toEqual((await ids()).toSorted());
  await waitForCounts(producer, {});
});

test('what cannot be finalized becomes a job, which has attempts', async () => {
  await addDueBatches(2);
  const producer = await queue.produce();
  const { runs, close } = queue.consume();
  expect(await openRelay(producer, new Error('no luck')).relay()).toBe('done');
  await waitUntil('the job has run', () => runs.length === 1);
  expect(runs[0]!.batchIds.toSorted()).toEqual((await ids()).toSorted());
  await close(1_000);
});

test('what waits because its shard is busy becomes a job, and no more batches are leased', async () => {
  await addDueBatches(101);
  const producer = await queue.produce();
  const { runs } = queue.consume();
  const { finalized, relay } = openRelay(producer, { snoozeMs: 1_000 });
  expect(await relay()).toBe('done');
  expect(finalized).toHaveLength(1);
  await waitUntil('the job has run', () => runs.length === 1);
  expect(runs[0]!.batchIds).toHaveLength(100);
});

test('if the queue refuses the job as well, the round fails, and the batches are due again when their lease ends', async () => {
  await addDueBatches(2);
  const producer = queue.openProducer();
  proxy.setMode('down');
  await expect(openRelay(producer, new Error('no luck')).relay()).rejects.toThrow();
  proxy.setMode('pass');
  const { finalized, relay } = openRelay(producer);
  expect(await relay()).toBe('done');
  expect(finalized).toEqual([]);
  await sql`update batches set relay_at = now()`.execute(given.database.db);
  await relay();
  expect(finalized).toHaveLength(1);
});

test('a shard whose batches cannot be finalized does not delay the others', async () => {
  await sql`insert into shards (id) values (1) on conflict do nothing`.execute(given.database.db);
  await addDueBatches(1);
  await addDueBatches(1, 1);
  const nowhere = new TestQueue('redis://127.0.0.1:1');
  const { finalized, relay } = openRelay(nowhere.openProducer(), new Error('no luck'));
  await expect(relay()).rejects.toThrow('the queue is down');
  expect(finalized.map(({ shardId }) => shardId)).toEqual([0, 1]);
  await nowhere.close();
});
