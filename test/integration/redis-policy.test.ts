import { Consumer, parseQueueUrl, Producer, UnsafeQueueError, watchQueue } from '@floodgate/queue';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { startProcess } from '../harness/service-process.ts';
import { redisServerCommand, startRedis, type RedisProcess } from '../services/redis.ts';

const missing = redisServerCommand() ? '' : ' (no redis-server or valkey-server on the PATH)';
const HOW_TO_MEND = 'redis-cli CONFIG SET maxmemory-policy noeviction';

describe.skipIf(missing)(`a Redis that may evict keys${missing}`, () => {
  let database: TestDatabase;
  let redis: RedisProcess;
  const opened: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    redis = await startRedis(['--maxmemory-policy', 'allkeys-lru', '--save', '']);
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((one) => one.close()));
  });
  afterAll(async () => {
    await redis.stop();
    await database.drop();
  });

  function openBoth(url: string) {
    const common = { target: parseQueueUrl(url), namespace: 'policy', onError: () => {} };
    const producer = new Producer({ ...common, retry: { attempts: 1, backoffMs: 1 } });
    const consumer = new Consumer({
      ...common,
      concurrency: { finalize: 1 },
      handlers: { 'finalize-batches': () => Promise.resolve() },
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

  test('the watch reports it as unsafe, not as down', async () => {
    for (const queue of openBoth(redis.url)) {
      const unsafe: Error[] = [];
      const changes: string[] = [];
      const unwatch = await watchQueue(queue, {
        onUnsafe: (error) => unsafe.push(error),
        onChange: (state) => changes.push(state),
      });
      unwatch();
      expect(unsafe.map(({ name }) => name)).toEqual(['UnsafeQueueError']);
      expect(changes).toEqual([]);
    }
  });

  test.for(['api', 'worker'] as const)('the %s ends with exit code 1 and one clear line', async (app) => {
    const { exited, output } = startProcess(app, {
      DATABASE_URL: database.url,
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

  test('a Redis that keeps everything is accepted', async () => {
    const safe = await startRedis();
    for (const queue of openBoth(safe.url)) await expect(queue.verify()).resolves.toBeUndefined();
    await Promise.all(opened.splice(0).map((one) => one.close()));
    await safe.stop();
  });
});
