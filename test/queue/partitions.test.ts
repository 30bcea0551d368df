import { hashSlot, partitionOf, partitionPrefixes } from '@floodgate/queue/partitions';
import type { NewJob, Producer } from '@floodgate/queue';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../harness/database.ts';
import { runCli } from '../harness/service-process.ts';
import { enqueueAll, newJobOf, TestQueue, waitForCounts } from '../harness/test-queue.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { redisServerCommand } from '../servers/redis.ts';
import { startRedisCluster, type RedisCluster } from '../servers/redis-cluster.ts';

const missing = redisServerCommand() ? '' : ' (no redis-server or valkey-server on the PATH)';
const SHARDS = Array.from({ length: 32 }, (_, shardId) => shardId);

// Nothing here has a relay: what is promised is the queue's own. A failover with relay, API and worker is in cluster-failover.
describe.skipIf(missing)(`a queue on a Redis Cluster of three masters${missing}`, () => {
  let cluster: RedisCluster;
  let queue: TestQueue;
  beforeEach(async () => {
    cluster = await startRedisCluster({ fullCoverage: false });
    queue = await TestQueue.open(cluster.url);
  });
  afterEach(async () => {
    await queue.close();
    await cluster[Symbol.asyncDispose]();
  });

  const batchIds = (jobs: ReturnType<typeof newJobOf>[]) =>
    jobs.flatMap(({ payload }) => payload.batchIds).toSorted();
  const slotOf = (shardId: number) => {
    const prefixes = partitionPrefixes({ kind: 'redis-cluster' }, queue.namespace);
    return hashSlot(prefixes[partitionOf(shardId, prefixes.length)]!.slice(1, -1));
  };

  test('jobs of several shards lie on all masters, four parts each', async () => {
    const producer = await queue.produce();
    await enqueueAll(producer, SHARDS.map(newJobOf));
    const waitLists = await cluster.countKeys(`{${queue.namespace}*}:finalize:wait`);
    expect(waitLists.reduce((sum, count) => sum + count)).toBe(12);
    for (const count of waitLists) expect(Math.abs(count - 4)).toBeLessThanOrEqual(1);
  });

  test('the slots are those of the servers', async () => {
    const node = new Redis(Number(/:(\d+)/.exec(cluster.url)![1]));
    onTestFinished(() => node.disconnect());
    for (const prefix of partitionPrefixes({ kind: 'redis-cluster' }, queue.namespace))
      expect(hashSlot(prefix.slice(1, -1))).toBe(
        await node.call('CLUSTER', 'KEYSLOT', `${prefix}:finalize:wait`),
      );
  });

  test('jobs of all parts are run once each, no more at a time than allowed', async () => {
    const producer = await queue.produce();
    const jobs = [...SHARDS, ...SHARDS, ...SHARDS].map(newJobOf);
    let [atOnce, most] = [0, 0];
    const handler = async () => {
      most = Math.max(most, (atOnce += 1));
      await new Promise((resolve) => setImmediate(resolve));
      atOnce -= 1;
    };
    await enqueueAll(producer, jobs);
    const { runs } = queue.consume({ concurrency: 3, handler });
    await waitForCounts(producer, {});
    expect(runs.flatMap((run) => run.batchIds).toSorted()).toEqual(batchIds(jobs));
    expect(most).toBe(3);
  });

  test('what has failed is counted, shown and removed in all parts', { timeout: 120_000 }, async () => {
    const database = await createTestDatabase();
    onTestFinished(() => database.drop());
    const producer = await queue.produce({ attempts: 1, backoffMs: 1 });
    const jobs = SHARDS.map(newJobOf);
    await enqueueAll(producer, jobs);
    await waitForCounts(producer, { waiting: 32 });
    queue.consume({ handler: () => Promise.reject(new Error('no luck')) });
    await waitForCounts(producer, { failed: 32 });

    const env = { DATABASE_URL: database.url, QUEUE_URL: cluster.url, QUEUE_NAMESPACE: queue.namespace };
    // The command gives up after 3 s, which a busy machine may need.
    const shown = await waitUntil('the command has an answer', async () => {
      const { code, output } = await runCli(env, 'queue', 'status', '--json');
      return code === 0 && (JSON.parse(output) as unknown);
    });
    expect(shown).toMatchObject({
      queues: [{ name: 'finalize', state: 'up', counts: { waiting: 0, failed: 32 } }],
    });

    const [kept, ...obsolete] = jobs.map(({ payload }) => JSON.stringify(payload));
    const removed = await producer.removeFailed('finalize', (payload) =>
      obsolete.includes(JSON.stringify(payload)),
    );
    expect([removed, kept]).toEqual([31, expect.any(String)]);
    await waitForCounts(producer, { failed: 1 });
  });

  test(
    'while a master is away jobs of the others go on; once its replica has taken over every job is done, none lost',
    { timeout: 120_000 },
    async () => {
      const producer = await queue.produce();
      const before = SHARDS.map(newJobOf);
      await enqueueAll(producer, before);
      const lost = await cluster.loseMasterOf(slotOf(0));
      const isAway = ({ payload }: { payload: { shardId?: number } }) => lost.had(slotOf(payload.shardId!));
      expect(before.filter(isAway).length).toBeGreaterThan(4);

      const { runs } = queue.consume();
      const haveRun = (jobs: typeof before) => {
        const ran = new Set(runs.flatMap((run) => run.batchIds));
        return batchIds(jobs).every((id) => ran.has(id));
      };
      const others = (jobs: typeof before) => jobs.filter((one) => !isAway(one));
      await waitUntil('the others have run', () => haveRun(others(before)), 45_000);
      const meanwhile = SHARDS.map(newJobOf);
      const added = Promise.all(meanwhile.map((one) => enqueueUntilTaken(producer, one)));
      await waitUntil(
        'the others of what was added meanwhile have run',
        () => haveRun(others(meanwhile)),
        45_000,
      );
      expect(runs).toHaveLength(others([...before, ...meanwhile]).length);

      await lost.failOver();
      await added;
      await waitUntil('all have run', () => haveRun([...before, ...meanwhile]), 45_000);
      await waitForCounts(producer, {});
      expect(runs.flatMap((run) => run.batchIds).toSorted()).toEqual(batchIds([...before, ...meanwhile]));
    },
  );
});

/** What an API leaves to the outbox. */
async function enqueueUntilTaken(producer: Producer, job: NewJob): Promise<void> {
  await waitUntil(
    'the queue takes it',
    () =>
      producer.enqueue(job).then(
        () => true,
        () => false,
      ),
    60_000,
  );
}
