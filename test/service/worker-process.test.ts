import { sql } from 'kysely';
import { afterEach, describe, expect } from 'vitest';
import { finalizeBatchesJob } from '@floodgate/registrations';
import { commitBatch } from '../harness/committed-batch.ts';
import { startProcess } from '../harness/service-process.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { TestQueue } from '../harness/test-queue.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { workersTest } from '../harness/workers-test.ts';
import { redisServerCommand, startRedis, type RedisProcess } from '../servers/redis.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = workersTest();

test('a worker removes idempotency keys that have expired, and only those', async () => {
  const { partnerId, eventId } = given.gala;
  const key = (name: string, age: string) => sql`
    insert into idempotency_keys (partner_id, event_id, key, fingerprint, outcomes, serials, created_at)
    values (${partnerId}, ${eventId}, ${name}, gen_random_uuid(), '{sold-out}', '{null}', now() - ${age}::interval)`;
  await key('young', '23 h 59 min').execute(given.database.db);
  await sql`
    insert into idempotency_keys (partner_id, event_id, key, fingerprint, outcomes, serials, created_at)
    select ${partnerId}, ${eventId}, 'old ' || n, gen_random_uuid(), '{sold-out}', '{null}', now() - interval '24 h'
    from generate_series(1, 2500) n`.execute(given.database.db);
  await given.startWorker();
  const keys = () => tablesOf(given.database.db).selectFrom('idempotency_keys').select('key').execute();
  await waitUntil('one is left', async () => (await keys()).length <= 1);
  expect(await keys()).toEqual([{ key: 'young' }]);
});

test('a worker outlives a connection that is lost under its first look at a Postgres queue', async () => {
  const queue = await TestQueue.open(given.database.url);
  const rival = await given.database.db.startTransaction().execute();
  await sql`lock table ${sql.table(`${queue.namespace}_queue.migration`)}`.execute(rival);
  const proxy = await TcpProxy.start(given.database.url);
  const worker = startProcess('worker', {
    DATABASE_URL: given.database.url,
    QUEUE_URL: proxy.through(given.database.url),
    QUEUE_NAMESPACE: queue.namespace,
    RELAY_INTERVAL_MS: '50',
    WORKER_PORT: '0',
  });
  given.adoptWorker(worker);
  const waiters = async () => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
      given.database.db,
    );
    return rows.length;
  };
  await waitUntil('producer, consumer and their probe look at the queue', async () => (await waiters()) >= 3);
  proxy.setMode('down');
  await rival.rollback().execute();
  proxy.setMode('pass');
  const batch = await commitBatch(given.database.db, given.gala);
  await batch.waitForState('confirmed').catch((error: unknown) => {
    throw new Error(`${worker.child.exitCode} ${worker.output()}`, { cause: error });
  });
  expect(await worker.end(), worker.output()).toBe(0);
  await queue.close();
  await proxy.stop();
});

const missing = redisServerCommand() ? '' : ' (no redis-server or valkey-server on the PATH)';

describe.skipIf(missing)(`a Redis that loses everything${missing}`, () => {
  let redis: RedisProcess;
  afterEach(() => redis.stop());

  test('loses no batch, neither those it held nor those that commit meanwhile', async () => {
    redis = await startRedis();
    const queue = await TestQueue.open(redis.url);
    const held = await commitBatch(given.database.db, given.gala, { relayInSeconds: 1 });
    await (
      await queue.produce()
    ).enqueue(finalizeBatchesJob, { shardId: given.gala.shardId, batchIds: [held.batchId] });
    await queue.close();
    await redis.kill();
    redis = await startRedis(undefined, redis.port);

    const worker = await given.startWorker({ QUEUE_URL: redis.url, QUEUE_NAMESPACE: queue.namespace });
    await held.waitForState('confirmed');
    await redis.kill();
    await waitUntil('the worker notices', () => worker.output().includes('the queue is down'));
    const meanwhile = await Promise.all([1, 2, 3].map(() => commitBatch(given.database.db, given.gala)));
    redis = await startRedis(undefined, redis.port);
    for (const batch of meanwhile) await batch.waitForState('confirmed');
    expect(await worker.end(), worker.output()).toBe(0);
  });

  test('keeps no worker from stopping in good order while it is away', async () => {
    redis = await startRedis();
    const worker = await given.startWorker({ QUEUE_URL: redis.url, SHUTDOWN_TIMEOUT_MS: '3000' });
    await redis.kill();
    await waitUntil('the worker notices', () => worker.output().includes('the queue is down'));
    expect(await worker.end(), worker.output()).toBe(0);
  });
});
