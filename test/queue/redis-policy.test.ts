import { openConsumer, openProducer, parseQueueUrl, UnsafeQueueError, watchQueue } from '@floodgate/queue';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished } from 'vitest';
import { commitBatch } from '../harness/committed-batch.ts';
import { databaseTest } from '../harness/database-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import {
  startApiProcess,
  startProcess,
  startWorkerProcess,
  type ServiceProcess,
} from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { redisServerCommand, startRedis, type RedisProcess } from '../servers/redis.ts';

const { test, given } = databaseTest({ own: 'starts processes that work on everything in the database' });

const missing = redisServerCommand() ? '' : ' (no redis-server or valkey-server on the PATH)';
const HOW_TO_MEND = 'redis-cli CONFIG SET maxmemory-policy noeviction';

const UNSAFE = ['--maxmemory-policy', 'allkeys-lru', '--save', ''];

describe.skipIf(missing)(`a Redis that may evict keys${missing}`, () => {
  let redis: RedisProcess;
  const opened: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    redis = await startRedis(UNSAFE);
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((one) => one.close()));
  });
  afterAll(async () => {
    await redis.stop();
  });

  function openBoth(url: string) {
    const common = { target: parseQueueUrl(url), namespace: 'policy', onError: () => {} };
    const producer = openProducer(common);
    const consumer = openConsumer({
      ...common,
      jobs: [],
      onJobFailed: () => {},
    });
    opened.push(producer, { close: () => consumer.close(1_000) });
    return [producer, consumer];
  }

  test('producer and consumer refuse it and say how to mend it', async () => {
    for (const queue of openBoth(redis.url)) {
      const refusal = await queue.verify().catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(UnsafeQueueError);
      expect((refusal as Error).message).toContain('maxmemory-policy "allkeys-lru"');
      expect((refusal as Error).message).toContain(HOW_TO_MEND);
    }
  });

  test('the watch refuses it at its first look', async () => {
    const told: unknown[] = [];
    const tell = (what: unknown) => void told.push(what);
    for (const queue of openBoth(redis.url))
      await expect(watchQueue(queue, { error: tell, warn: tell })).rejects.toThrow(UnsafeQueueError);
    expect(told).toEqual([]);
  });

  test.for(['api', 'worker'] as const)('the %s ends with exit code 1 and one clear line', async (app) => {
    const { exited, output } = startProcess(app, {
      DATABASE_URL: given.database.url,
      QUEUE_URL: redis.url,
      PORT: '0',
      WORKER_PORT: '0',
      LOG_LEVEL: 'silent',
    });
    expect(await exited, output()).toBe(1);
    // BullMQ has a warning of its own for this; the rest is ours.
    const lines = output()
      .trim()
      .split('\n')
      .filter((line) => !line.startsWith('IMPORTANT!'));
    expect(lines, output()).toHaveLength(1);
    expect(lines[0]).toMatch(new RegExp(`^floodgate-${app}: Redis has maxmemory-policy "allkeys-lru"`));
    expect(lines[0]).toContain(HOW_TO_MEND);
  });

  test('API and worker go on with one that comes back so, and say it once; then again that it is mended', async () => {
    const before = await startRedis();
    const fixture = await createFixture(given.database.db);
    const env = { DATABASE_URL: given.database.url, QUEUE_URL: before.url, QUEUE_NAMESPACE: 'policy' };
    const api = await startApiProcess(env);
    const worker = await startWorkerProcess({ ...env, RELAY_INTERVAL_MS: '50' });
    onTestFinished(async () => void (await Promise.all([api, worker].map(({ end }) => end('SIGKILL')))));
    const linesOf = ({ output }: ServiceProcess, text: string) => output().split(text).length - 1;
    const bothSay = (text: string) =>
      waitUntil(`both say "${text}"`, () => [api, worker].every((service) => linesOf(service, text) > 0));
    await before.kill();
    await bothSay('the queue is down');
    const after = await startRedis(UNSAFE, before.port);
    await bothSay('the queue could lose jobs');

    const client = new PartnerClient(api.baseUrl, fixture);
    const ticketId = await fixture.addTicket();
    expect((await client.register(attendee(ticketId))).body.responseCode).toBe('00');
    await (await commitBatch(given.database.db, fixture)).waitForState('confirmed');

    const operator = new Redis(after.url);
    await operator.config('SET', 'maxmemory-policy', 'noeviction');
    operator.disconnect();
    await bothSay('the queue is up');
    for (const service of [api, worker]) {
      expect(linesOf(service, '"msg":"the queue could lose jobs"'), service.output()).toBe(1);
      expect(service.output()).toContain(HOW_TO_MEND);
      expect(await service.end(), service.output()).toBe(0);
    }
    await after.stop();
  });

  test('the watch notices one that becomes so while it is up, and that it is mended', async () => {
    const server = await startRedis();
    const operator = new Redis(server.url);
    const told: unknown[] = [];
    const [producer] = openBoth(server.url);
    const unwatch = await watchQueue(producer!, {
      error: (_: unknown, message?: string) => told.push(message),
      warn: (_: unknown, message?: string) => told.push(message),
    });
    await operator.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await waitUntil('it is told', () => told.length > 0);
    await operator.config('SET', 'maxmemory-policy', 'noeviction');
    await waitUntil('the end of it is told', () => told.length > 1);
    expect(told).toEqual(['the queue could lose jobs', 'the queue is up']);
    unwatch();
    operator.disconnect();
    await server.stop();
  });

  test('a Redis that keeps everything is accepted', async () => {
    const safe = await startRedis();
    for (const queue of openBoth(safe.url)) await expect(queue.verify()).resolves.toBeUndefined();
    await Promise.all(opened.splice(0).map((one) => one.close()));
    await safe.stop();
  });
});
