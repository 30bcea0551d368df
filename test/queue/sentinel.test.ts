import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findFreePort } from '../harness/free-port.ts';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { startApiProcess, startWorkerProcess } from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { redisServerCommand, startRedis, type RedisProcess } from '../servers/redis.ts';

const { test, given } = databaseTest({ own: 'starts processes that work on everything in the database' });

const command = redisServerCommand();
const missing = command ? '' : ' (no redis-server on the PATH)';
const SAFE = ['--maxmemory-policy', 'noeviction', '--save', ''];

describe.skipIf(missing)(`a Redis that Sentinel watches${missing}`, () => {
  let master: RedisProcess;
  let replica: RedisProcess;
  let sentinelPort: number;
  let stopSentinel: () => Promise<void>;

  beforeAll(async () => {
    master = await startRedis(SAFE);
    replica = await startRedis([...SAFE, '--replicaof', '127.0.0.1', String(master.port)]);
    sentinelPort = await findFreePort();
    const directory = await mkdtemp(path.join(tmpdir(), 'floodgate-sentinel-'));
    const file = path.join(directory, 'sentinel.conf');
    const lines = [
      `port ${sentinelPort}`,
      `sentinel monitor queue 127.0.0.1 ${master.port} 1`,
      'sentinel down-after-milliseconds queue 500',
      'sentinel failover-timeout queue 3000',
    ];
    await writeFile(file, `${lines.join('\n')}\n`);
    const child = spawn(command!, [file, '--sentinel'], { stdio: 'ignore', cwd: directory });
    stopSentinel = async () => {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      await rm(directory, { recursive: true, force: true });
    };
    const sentinel = new Redis(sentinelPort, { retryStrategy: () => 100 });
    await waitUntil('the sentinel knows master and replica', async () => {
      const replicas = (await sentinel.call('sentinel', 'replicas', 'queue').catch(() => [])) as unknown[];
      return replicas.length === 1;
    });
    sentinel.disconnect();
  });
  afterAll(async () => {
    await stopSentinel();
    await Promise.all([master, replica].map((server) => server.stop()));
  });

  test('jobs go on after the failover, and what was reserved meanwhile is finalized', async () => {
    const queueUrl = `redis+sentinel://127.0.0.1:${sentinelPort}/queue`;
    const env = { DATABASE_URL: given.database.url, QUEUE_URL: queueUrl };
    const api = await startApiProcess(env);
    const worker = await startWorkerProcess(env);
    onTestFinished(async () => void (await Promise.all([api, worker].map(({ end }) => end('SIGKILL')))));
    const fixture = await createFixture(given.database.db);
    const partner = new PartnerClient(api.baseUrl, fixture);
    const ticketId = await fixture.addTicket();
    const confirmed = async (passReference: string) => {
      const { body } = await partner.registration(passReference);
      return (body.responseData as { state: string }).state === 'confirmed';
    };
    const registerOne = async () => {
      const { body } = await partner.register(attendee(ticketId));
      expect(body.responseCode).toBe('00');
      return String(body.responseData);
    };
    const before = await registerOne();
    await waitUntil('a job was done', () => confirmed(before));

    await master.kill();
    const meanwhile = await registerOne();
    await waitUntil('what was reserved meanwhile is confirmed', () => confirmed(meanwhile));
    const promoted = new Redis(replica.port);
    onTestFinished(() => promoted.disconnect());
    await waitUntil('the replica is the master', async () => (await promoted.role())[0] === 'master');
    const ready = async () =>
      ((await (await fetch(`${api.baseUrl}/health/ready`)).json()) as { queue: string }).queue;
    await waitUntil('the API has found it', async () => (await ready()) === 'up');
    const after = await registerOne();
    await waitUntil('what was reserved afterwards is confirmed', () => confirmed(after));
  });
});
