import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  handled,
  openConsumer,
  openProducer,
  parseQueueUrl,
  type Consumer,
  type Producer,
} from '@floodgate/queue';
import { finalizeBatchesJob } from '@floodgate/registrations';
import { findFreePort } from '../harness/free-port.ts';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { runCli, startApiProcess, startWorkerProcess } from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { redisServerCommand, startRedis, type RedisProcess } from '../servers/redis.ts';

const { test, given } = databaseTest({ own: 'starts processes that work on everything in the database' });

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
const missing = redisServerCommand() && hasOpenssl ? '' : ' (no redis-server or no openssl on the PATH)';

const PASSWORD = 'open-sesame';
const jobs = [handled(finalizeBatchesJob, () => Promise.resolve('done' as const))];
const SAFE = ['--maxmemory-policy', 'noeviction', '--save', ''];

/** A stop meets another moment of the handshake each time. */
const ROUNDS = inject('tier') === 'gate' ? [1] : [1, 2, 3, 4];

describe.skipIf(missing)(`why a queue is down${missing}`, () => {
  let directory: string;
  let servers: Record<'open' | 'secret' | 'tls', RedisProcess>;

  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'floodgate-tls-'));
    const [key, certificate] = [path.join(directory, 'key.pem'), path.join(directory, 'cert.pem')];
    const selfSigned = [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=localhost',
    ];
    spawnSync('openssl', [...selfSigned, '-keyout', key, '-out', certificate]);
    const tlsPort = await findFreePort();
    const tls = ['--tls-port', String(tlsPort), '--tls-auth-clients', 'no', '--tls-cert-file', certificate];
    servers = {
      open: await startRedis(SAFE),
      secret: await startRedis([...SAFE, '--requirepass', PASSWORD]),
      tls: await startRedis([...SAFE, '--port', '0', ...tls, '--tls-key-file', key], tlsPort),
    };
  });
  afterAll(async () => {
    await Promise.all(Object.values(servers).map((server) => server.stop()));
    await rm(directory, { recursive: true, force: true });
  });

  test.for([
    ['a wrong password', 'redis://:wrong-one@secret', 'user or password not accepted'],
    ['a user that does not exist', 'redis://jane:open-sesame@open', 'user or password not accepted'],
    ['no password', 'redis://secret', 'a password is needed'],
    ['no TLS where it is needed', 'redis://tls', 'connection reset (TLS may be needed: rediss)'],
    ['TLS where it is not spoken', 'rediss://open', 'no answer (the server may not support TLS: redis)'],
    [
      'a certificate that nobody vouches for',
      'rediss://tls',
      'certificate not accepted (DEPTH_ZERO_SELF_SIGNED_CERT)',
    ],
    ['a database that the server does not have', 'redis://open/99', 'no such database'],
    ['a server that is away', 'redis://away', 'connection refused'],
    ['a cluster with a wrong password', 'redis-cluster://:wrong-one@secret', 'user or password not accepted'],
    [
      'a cluster whose certificate nobody vouches for',
      'rediss-cluster://tls',
      'connection closed (the certificate may not be accepted)',
    ],
    ['a cluster that needs TLS', 'redis-cluster://tls', 'connection closed (TLS may be needed: rediss)'],
  ] as const)('%s is told by producer and consumer', async ([, written, reason]) => {
    const url = written.replace(/(open|secret|tls|away)(\/\d+)?$/, (_, server: string, number = '') => {
      const port = server === 'away' ? 1 : servers[server as keyof typeof servers].port;
      return `127.0.0.1:${port}${number}`;
    });
    const common = { target: parseQueueUrl(url), namespace: 'problems', onError: () => {} };
    const producer = openProducer(common);
    const consumer = openConsumer({
      ...common,
      jobs,
      onJobFailed: () => {},
    });
    onTestFinished(async () => void (await Promise.all([producer.close(), consumer.close(1_000)])));
    const showsReason = async (queue: Producer | Consumer) => {
      await expect(queue.verify()).rejects.toThrow();
      await waitUntil('the reason is known', () => queue.problem() === reason).catch((cause: unknown) => {
        throw new Error(`it is said to be ${queue.problem()}`, { cause });
      });
    };
    await Promise.all([producer, consumer].map(showsReason));
  });

  test('nothing reaches database 0 in place of one that does not exist', async () => {
    const told: string[] = [];
    const onError = (error: Error) => told.push(error.message);
    const common = { target: parseQueueUrl(`${servers.open.url}/99`), namespace: 'elsewhere', onError };
    const producer = openProducer(common);
    const consumer = openConsumer({ ...common, jobs, onJobFailed: () => {} });
    // Whoever took another database would connect once.
    await waitUntil('both have tried again and again', async () => {
      await expect(
        producer.enqueue(finalizeBatchesJob, { shardId: 0, batchIds: [randomUUID()] }),
      ).rejects.toThrow();
      return told.filter((message) => message.includes('DB index')).length > 6;
    });
    await producer.close();
    await consumer.close(1_000);
    const operator = new Redis(servers.open.url);
    onTestFinished(() => operator.disconnect());
    expect(await operator.keys('*elsewhere*')).toEqual([]);
  });

  test('what is closed amid a TLS handshake throws nothing at its process', async () => {
    const target = parseQueueUrl(`rediss://127.0.0.1:${servers.tls.port}`);
    const common = { target, namespace: 'problems', onError: () => {} };
    for (let waitMs = 0; waitMs < 100; waitMs++) {
      const producer = openProducer(common);
      const consumer = openConsumer({ ...common, jobs, onJobFailed: () => {} });
      // time: as long as a handshake takes, or less.
      await delay(waitMs % 10);
      await Promise.all([producer.close(), consumer.close(1_000)]);
    }
  });

  test('API, worker and command say it, and the password they were given stays unsaid', async () => {
    const url = servers.secret.url.replace('://', '://:wrong-one@');
    const env = { DATABASE_URL: given.database.url, QUEUE_URL: url };
    const reason = 'user or password not accepted';
    const port = await findFreePort();
    const api = await startApiProcess(env);
    const worker = await startWorkerProcess({ ...env, WORKER_PORT: String(port) });
    onTestFinished(async () => void (await Promise.all([api, worker].map(({ end }) => end('SIGKILL')))));
    for (const service of [api, worker]) {
      await waitUntil('the log says it', () =>
        service.output().includes(`"queue":"down","problem":"${reason}","msg":"the queue is down"`),
      );
    }
    const answer = async (baseUrl: string) => {
      const response = await fetch(`${baseUrl}/health/ready`);
      return { status: response.status, body: await response.json() };
    };
    expect(await answer(api.baseUrl)).toEqual({
      status: 200,
      body: { status: 'ok', postgres: 'up', queue: 'down' },
    });
    expect(await answer(`http://127.0.0.1:${port}`)).toMatchObject({
      status: 503,
      body: { status: 'blocked', progress: { queue: 'down', queueProblem: reason } },
    });

    const { code, output } = await runCli(env, 'queue', 'status');
    expect([code, output]).toEqual([1, expect.stringMatching(/pending batches +0/)]);
    expect(output).toMatch(new RegExp(`finalize .* down \\(${reason}\\)`));
    expect(output).toContain('floodgate: the queue is down');
    for (const said of [api.output(), worker.output(), output]) expect(said).not.toContain('wrong-one');
  });

  test('API and worker stop in good order while a certificate is refused', async () => {
    const env = { DATABASE_URL: given.database.url, QUEUE_URL: `rediss://127.0.0.1:${servers.tls.port}` };
    for (const _ of ROUNDS) {
      const services = await Promise.all([startApiProcess(env), startWorkerProcess(env)]);
      for (const { end, output } of services) expect(await end(), output()).toBe(0);
    }
    const { code, output } = await runCli(env, 'queue', 'status');
    expect([code, output]).toEqual([1, expect.stringContaining('floodgate: the queue is down')]);
  });

  test('a reason that changes is told as well, and that there is none any more', async () => {
    const server = await startRedis([...SAFE, '--requirepass', PASSWORD]);
    const env = { DATABASE_URL: given.database.url, QUEUE_URL: server.url };
    const api = await startApiProcess(env);
    onTestFinished(() => void api.end('SIGKILL'));
    const says = (problem: string) =>
      waitUntil(`it says ${problem}`, () => api.output().includes(`"problem":"${problem}"`));
    await says('a password is needed');
    await server.kill();
    await says('connection refused');
    const open = await startRedis(SAFE, server.port);
    await waitUntil('it is up', () => api.output().includes('the queue is up'));
    expect(await (await fetch(`${api.baseUrl}/health/ready`)).json()).toEqual({
      status: 'ok',
      postgres: 'up',
      queue: 'up',
    });
    await open.stop();
  });
});
