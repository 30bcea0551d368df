import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect, type Database } from '@floodgate/database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PostgresUnderTest } from '../faults/postgres-under-test.ts';
import { addOperator } from '../harness/operators.ts';
import {
  runCli,
  startApiProcess,
  startDeliveryProcess,
  startProcess,
  startWorkerProcess,
  type Environment,
  type ServiceProcess,
} from '../harness/service-process.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { redisServerCommand, startRedis, type RedisProcess } from '../servers/redis.ts';

/** How soon the banner must name what has stopped. */
const NAMED_WITHIN_MS = 10_000;

// Real processes, killed in turn. Skipped without Redis, but in CI.
describe.skipIf(!redisServerCommand() && !process.env['CI'])('the banner names what has stopped', () => {
  let postgres: PostgresUnderTest;
  let redis: RedisProcess;
  let db: Database;
  let env: Environment;
  let consoleUrl: string;
  let cookie: string;
  const running: ServiceProcess[] = [];

  beforeAll(async () => {
    postgres = await PostgresUnderTest.start(await mkdtemp(path.join(tmpdir(), 'floodgate-outages-')));
    redis = await startRedis();
    env = { DATABASE_URL: postgres.url(), QUEUE_URL: redis.url };
    expect((await runCli(env, 'migrate')).code).toBe(0);
    db = connect({ connectionString: postgres.url(), applicationName: 'test', maxConnections: 2 });
    ({ cookie } = await addOperator(db, 'owner'));
    const started = startProcess('console', { ...env, CONSOLE_PORT: '0' });
    running.push(started);
    consoleUrl = await waitUntil(
      'the console listens',
      () => /listening at (http:\/\/127\.0\.0\.1:\d+)/.exec(started.output())?.[1],
    );
  });
  afterAll(async () => {
    await db.destroy();
    await Promise.all(running.map((one) => one.end('SIGKILL')));
    await redis.stop();
    await postgres.stop();
  });

  const kept = async (starting: Promise<ServiceProcess>) => {
    const started = await starting;
    running.push(started);
    return started;
  };
  const startDelivery = () =>
    kept(
      startDeliveryProcess({ ...env, SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'gala@floodgate-tests.org' }),
    );
  const page = async (at = '/health') => {
    const response = await fetch(`${consoleUrl}${at}`, { headers: { cookie }, redirect: 'manual' });
    return { status: response.status, html: await response.text() };
  };
  const banner = async () => /<div class="banner"[^]*?<\/div>/.exec((await page()).html)?.[0] ?? '';
  const isFine = () => waitUntil('nothing is wrong', async () => (await banner()) === '');

  /** Waits until the banner has a text and its entry of the runbook. Returns how long that took. */
  async function named(text: string, anchor: string): Promise<number> {
    const since = performance.now();
    await waitUntil(`the banner says ${text}`, async () => (await banner()).includes(text));
    const tookMs = performance.now() - since;
    expect(await banner()).toContain(`href="/help/operate/runbook#${anchor}"`);
    console.log(`${text}: ${(tookMs / 1_000).toFixed(1)} s`);
    return tookMs;
  }

  test('each of worker, delivery, queue, Postgres and API, within ten seconds', async () => {
    let worker = await kept(startWorkerProcess(env));
    let delivery = await startDelivery();
    const apis = [await kept(startApiProcess(env)), await kept(startApiProcess(env))];
    await isFine();

    await worker.end('SIGKILL');
    expect(await named('No worker reports', 'servicedown')).toBeLessThan(NAMED_WITHIN_MS);
    worker = await kept(startWorkerProcess(env));
    await isFine();

    await delivery.end('SIGKILL');
    expect(await named('No delivery process reports', 'servicedown')).toBeLessThan(NAMED_WITHIN_MS);
    delivery = await startDelivery();
    await isFine();

    await redis.kill();
    expect(await named('The queue does not answer', 'queuedown')).toBeLessThan(NAMED_WITHIN_MS);
    redis = await startRedis(undefined, redis.port);
    await isFine();

    await apis[0]!.end('SIGKILL');
    expect(await named('API on', 'processdown')).toBeLessThan(NAMED_WITHIN_MS);
    apis[0] = await kept(startApiProcess(env));
    await isFine();

    await postgres.kill();
    expect(await named('Postgres does not answer', 'postgres-does-not-answer')).toBeLessThan(NAMED_WITHIN_MS);
    expect((await page('/sign-in')).status).toBe(200);
    expect((await page('/')).status).toBe(503);
    await postgres.recover();
    await isFine();

    // A process that is stopped in order is not missed while another one works.
    await apis[0].end();
    await apis[1]!.end('SIGKILL');
    expect(await named('No API reports', 'servicedown')).toBeLessThan(NAMED_WITHIN_MS);
  });
});
