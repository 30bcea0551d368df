import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'kysely';
import { describe, expect, inject, onTestFinished } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { commitBatch } from '../harness/committed-batch.ts';
import { connectInTest } from '../harness/connect-in-test.ts';
import { databaseTest } from '../harness/database-test.ts';
import { addDevice, addGate } from '../harness/door-device.ts';
import { createFixture } from '../harness/fixture.ts';
import { findFreePort } from '../harness/free-port.ts';
import { holdTable } from '../harness/hold-table.ts';
import { startMailServer } from '../harness/mail-server.ts';
import { attendee, PartnerClient } from '../harness/partner-client.ts';
import { finalizePending } from '../harness/journal.ts';
import { refusePoison, refuseToConfirm } from '../harness/poison.ts';
import { assertNothingPrivate } from '../harness/private-data.ts';
import {
  dashboardExpressions,
  prometheusFile,
  readAlerts,
  readJobs,
  startPrometheus,
  withoutPrometheus,
  type Prometheus,
} from '../harness/prometheus.ts';
import {
  startApiProcess,
  startDeliveryProcess,
  startProcess,
  startWorkerProcess,
  type ServiceProcess,
} from '../harness/service-process.ts';
import { roleOf, withRole } from '../harness/service-roles.ts';
import { tablesOf } from '../harness/stored-tables.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { temporaryDirectory } from '../harness/temporary-directory.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { startReceiverInTest } from '../harness/webhooks-in-test.ts';
import { addWebhook } from '../harness/webhooks.ts';
import { enable, makeDue } from '../mail/mail-process.ts';

const { test, given } = databaseTest({
  own: 'changes the schema, the roles or the settings of its database',
});

// A query with a wrong name finds nothing, and nothing looks like health. So each query of alerts, dashboards
// and scalers must give a value other than zero in an installation with every kind of trouble.

const ROOT = path.resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

interface RuleTest {
  alert_rule_test: { alertname: string; exp_alerts: unknown[] }[];
}

const alerts = readAlerts();

describe('the rules', () => {
  test('each alert has a severity, a figure in its summary, and an entry in the runbook', () => {
    const [, section] = /^## Alerts\n(.*?)(?=^## |(?![^]))/ms.exec(read('apps/docs/operate/runbook.md'))!;
    const entries = Array.from(section!.matchAll(/^### (\w+)$/gm), ([, heading]) => heading!);
    expect(entries.toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
    for (const { alert, labels, annotations } of alerts) {
      expect(['page', 'ticket'], alert).toContain(labels.severity);
      expect(annotations.summary, alert).toMatch(/\d|\$value/);
      expect(annotations.runbook_url).toBe(`/operate/runbook#${alert.toLowerCase()}`);
    }
  });

  test('each alert fires in rules.test.yml, and each guarded one also stays silent', () => {
    const { tests } = parse(read('docker/prometheus/rules.test.yml')) as { tests: RuleTest[] };
    const cases = tests.flatMap((one) => one.alert_rule_test);
    const withCase = (fires: boolean) =>
      cases.filter((one) => one.exp_alerts.length > 0 === fires).map(({ alertname }) => alertname);
    const guarded = alerts.filter(({ expr }) => /\b(and|unless|offset)\b/.test(expr));
    expect(withCase(true)).toEqual(expect.arrayContaining(alerts.map(({ alert }) => alert)));
    expect(withCase(false)).toEqual(expect.arrayContaining(guarded.map(({ alert }) => alert)));
  });

  test('each job scrapes a service of the Compose file, on the port of its metrics', () => {
    const { services } = parse(read('docker/compose.yaml'), { merge: true }) as {
      services: Record<string, { environment: Record<string, number> }>;
    };
    // The worker and the delivery process serve metrics on the port of their health. Compose keeps their defaults.
    const defaults: Record<string, number> = { worker: 3001, delivery: 3002 };
    for (const { job_name: job, dns_sd_configs: found } of readJobs()) {
      const [{ names, port }] = found;
      const [name] = names;
      expect(job).toBe(`floodgate-${name}`);
      expect(port, job).toBe(services[name]!.environment['METRICS_PORT'] ?? defaults[name]);
    }
  });
});

test('the query of the autoscaler has the age of a pending batch, with the rights of a worker', async () => {
  const files = globSync('docker/kubernetes/**/*.yaml', { cwd: ROOT });
  const objects = files.flatMap((file) => parseAllDocuments(read(file)).map((document) => document.toJS()));
  interface ScaledObject {
    kind: string;
    spec: { triggers: { type: string; metadata: { query: string } }[] };
  }
  const queries = (objects as ScaledObject[])
    .filter((object) => object?.kind === 'ScaledObject')
    .flatMap(({ spec }) => spec.triggers.filter(({ type }) => type === 'postgresql'))
    .map(({ metadata }) => metadata.query);
  expect(queries).not.toEqual([]);
  await using worker = connectInTest(withRole(roleOf('worker'), given.database.url));
  const ask = async (query: string) => {
    const { rows } = await sql.raw<Record<string, number>>(query).execute(worker);
    return Object.values(rows[0]!);
  };
  const fixture = await createFixture(given.database.db);
  await commitBatch(given.database.db, fixture, { relayInSeconds: 600 });
  for (const query of queries) expect(await ask(query)).toEqual([expect.toSatisfy((age) => age > 0)]);
  await finalizePending(given.database.db, fixture.shardId);
  for (const query of queries) expect(await ask(query)).toEqual([0]);
});

describe.skipIf(withoutPrometheus !== '')(`Prometheus${withoutPrometheus}`, () => {
  const promtool = (...args: string[]) => execFileSync('promtool', args, { encoding: 'utf8' });

  test('accepts the configuration, the rules and the examples of the documentation', async () => {
    await using directory = await temporaryDirectory();
    promtool('check', 'config', prometheusFile('prometheus.yml'));
    promtool('check', 'rules', '--lint-fatal', prometheusFile('rules.yml'));
    const examples = read('apps/docs/operate/monitoring.md').matchAll(
      /^```yaml\n(scrape_configs:.*?)^```/gms,
    );
    for (const [, example] of examples) {
      // Debian builds Prometheus without the discovery of Kubernetes.
      const checked = example!.replace(/kubernetes_sd_configs: .*/, 'static_configs: []');
      await writeFile(directory.file('example.yml'), checked);
      promtool('check', 'config', directory.file('example.yml'));
    }
  });

  test('fires each alert once', () => {
    promtool('test', 'rules', prometheusFile('rules.test.yml'));
  });

  test('has a value other than zero for each query of alerts and dashboards, in a real run', async () => {
    const installation = await startInstallation();
    const { prometheus, targets } = installation;
    await trouble(installation);
    const expressions = [...(await alertExpressions(prometheus)), ...dashboardExpressions()];
    expect(expressions.length).toBeGreaterThan(50);
    const missing = async () => {
      const seen = await Promise.all(expressions.map(({ query }) => hasSeen(prometheus, query)));
      return expressions.filter((_, index) => !seen[index]);
    };
    await expect.poll(missing).toEqual([]);
    const broken = (await prometheus.rules()).filter(({ health }) => health !== 'ok');
    expect(broken).toEqual([]);
    for (const target of Object.values(targets).flat())
      assertNothingPrivate(target, await (await fetch(`http://${target}/metrics`)).text());
  });
});

/** Returns the expressions of all alerts, as Prometheus has read them, without the last comparison. */
async function alertExpressions(prometheus: Prometheus) {
  return (await prometheus.rules()).map(({ name, query }) => ({ name, query: withoutThreshold(query) }));
}

function withoutThreshold(query: string): string {
  const [, left] = /^([^]*) (?:==|>) [\d.e+]+$/.exec(query) ?? [];
  if (!left) throw new Error(`the expression does not end with a comparison: ${query}`);
  return left;
}

/** Whether an expression has had a value other than zero. */
const hasSeen = async (prometheus: Prometheus, query: string) =>
  (await prometheus.history(query)).some((value) => value !== 0);

type Installation = Awaited<ReturnType<typeof startInstallation>>;

/** The statuses that the receivers of webhooks answer with. */
const RECEIVERS = [204, 500, 410];

/** Starts a receiver that is too busy until `answer` is called. Such an attempt does not count as a failure. */
async function startBusyReceiver(status: number) {
  const busy = { 'retry-after': '1' };
  const { url, answerBy } = await startReceiverInTest(
    (_, response) => void response.writeHead(429, busy).end(),
  );
  return { url, answer: () => answerBy((_, response) => void response.writeHead(status).end()) };
}

/** Starts every process, a mail server and receivers of webhooks. The mail server and the receivers are too busy. */
async function startInstallation() {
  const gala = await createFixture(given.database.db);
  const receivers = await Promise.all(RECEIVERS.map(startBusyReceiver));
  for (const { url } of receivers) await addWebhook(given.database.db, gala, { url });
  await enable(given.database.db, gala);
  const mailServer = await startMailServer();
  mailServer.onRecipient = () => ({ responseCode: 421, message: '4.7.0 slow down' });

  const [apiPort, workerPort, otherWorkerPort, consolePort, consoleMetricsPort] = await Promise.all(
    Array.from({ length: 5 }, () => findFreePort().then(String)),
  );
  const queueUrl = inject('redisUrl') ?? given.database.url;
  const wire = await TcpProxy.start(queueUrl);
  onTestFinished(() => wire.stop());
  const { url: DATABASE_URL } = given.database;
  const env = {
    DATABASE_URL,
    QUEUE_URL: wire.through(queueUrl),
    QUEUE_NAMESPACE: queueUrl === DATABASE_URL ? 'floodgate' : `monitoring_${process.pid}`,
    FINALIZE_ATTEMPTS: '2',
    FINALIZE_BACKOFF_MS: '5000',
  };
  const running: ServiceProcess[] = [];
  onTestFinished(async () => void (await Promise.all(running.map((one) => one.end()))));
  const keep = <Process extends ServiceProcess>(started: Process) => (running.push(started), started);
  const startWorker = async (WORKER_PORT: string) =>
    keep(await startWorkerProcess({ ...env, WORKER_PORT, RELAY_INTERVAL_MS: '100' }));
  const api = keep(await startApiProcess({ ...env, METRICS_PORT: apiPort!, READ_CONNECTIONS: '2' }));
  await startWorker(workerPort!);
  const otherWorker = await startWorker(otherWorkerPort!);
  const delivery = keep(
    await startDeliveryProcess({
      DATABASE_URL,
      SMTP_URL: mailServer.url,
      MAIL_FROM: 'The Gala <gala@floodgate-tests.org>',
      WEBHOOK_ALLOW_PRIVATE: 'true',
    }),
  );
  const ports = { CONSOLE_PORT: consolePort!, METRICS_PORT: consoleMetricsPort! };
  const started = keep(startProcess('console', { DATABASE_URL, ...ports }));
  await waitUntil('the console listens', () => started.output().includes('listening at'));
  const targets = {
    'floodgate-api': [`127.0.0.1:${apiPort}`],
    'floodgate-worker': [`127.0.0.1:${workerPort}`, `127.0.0.1:${otherWorkerPort}`],
    'floodgate-delivery': [new URL(delivery.baseUrl).host],
    'floodgate-console': [`127.0.0.1:${consoleMetricsPort}`],
  };
  const prometheus = await startPrometheus(targets);
  await waitUntil('Prometheus reaches every process', async () =>
    (await prometheus.history('count(up == 1)')).includes(Object.values(targets).flat().length),
  );
  return {
    prometheus,
    targets,
    gala,
    receivers,
    mailServer,
    /** Between the processes and the queue. */
    wire,
    apiUrl: api.baseUrl,
    consoleUrl: `http://127.0.0.1:${consolePort}`,
    async restartWorker() {
      await otherWorker.end();
      await startWorker(otherWorkerPort!);
    },
  };
}

/** Causes everything that an alert or a dashboard shows. Each step lasts until Prometheus has seen it. */
async function trouble(installation: Installation): Promise<void> {
  const { prometheus } = installation;
  const expressions = new Map(
    (await alertExpressions(prometheus)).map(({ name, query }) => [name, query] as const),
  );
  const seen: Seen = async (names, meanwhile) => {
    for (const name of names)
      await waitUntil(`Prometheus sees ${name}`, async () => {
        await meanwhile?.();
        return hasSeen(prometheus, expressions.get(name) ?? name);
      });
  };
  await refusePoison(given.database.db);
  await stopDeliveries(installation, seen);
  const traffic = await startTraffic(installation);
  await refuseDeliveries(installation, seen);
  await failBatch(seen);
  await holdRegistrations(traffic, seen);
  await installation.restartWorker();
  await seen(['ProcessRestarts']);
  await disturbDoors(seen);
  await traffic.stop();
  // Last, because nothing is finalized or delivered afterwards.
  await sql`revoke select on batches from ${sql.id(roleOf('worker'))}`.execute(given.database.db);
  await sql`revoke select on journal_consumers from ${sql.id(roleOf('delivery'))}`.execute(given.database.db);
  await seen(['BacklogUnknown', 'LagUnknown']);
  installation.wire.setMode('down');
  await seen(['QueueDown']);
}

/** Waits until Prometheus has seen a value other than zero of these alerts or expressions. Calls `meanwhile` again and again. */
type Seen = (names: string[], meanwhile?: () => Promise<unknown>) => Promise<void>;

const addressOf = (name: string, count: number) => `${name}-${count}@mail.floodgate-tests.org`;

/** No e-mail and no webhook is delivered yet. */
async function stopDeliveries({ apiUrl, gala }: Installation, seen: Seen): Promise<void> {
  const partner = new PartnerClient(apiUrl, gala);
  const ticketId = await gala.addTicket();
  for (const count of [1, 2, 3]) {
    const guest = attendee(ticketId, { emailAddress: addressOf('early', count) });
    expect((await partner.register(guest)).body.responseCode).toBe('00');
  }
  await seen(['EmailsStopped', 'WebhooksStopped']);
}

/** Registers until it is stopped: accepted, sold out and broken registrations, and guests whose addresses are refused. */
async function startTraffic({ apiUrl, consoleUrl, gala }: Installation) {
  const partner = new PartnerClient(apiUrl, gala);
  const other = await createFixture(given.database.db);
  const client = new PartnerClient(apiUrl, other);
  const [guests, ticketId, soldOut] = await Promise.all([
    gala.addTicket({ capacity: 100_000 }),
    other.addTicket({ capacity: 100_000 }),
    other.addTicket({ capacity: 1 }),
  ]);
  const { body } = await client.register(attendee(ticketId));
  const reference = String(body.responseData);
  const register = () => client.register(attendee(ticketId));
  const stopping = new AbortController();
  const run = async () => {
    for (let round = 0; !stopping.signal.aborted; round += 1) {
      await Promise.all(Array.from({ length: 10 }, register));
      await client.register(attendee(ticketId, { fullName: 'Poison' }));
      await client.register(attendee(soldOut));
      await client.registration(reference);
      await fetch(`${consoleUrl}/sign-in`);
      const names = round % 5 === 0 ? ['welcome', 'greylisted', 'unknown'] : [];
      for (const name of names)
        await partner.register(attendee(guests, { emailAddress: addressOf(name, round) }));
    }
  };
  const running = run();
  // Otherwise an early failure is an unhandled rejection. `stop` throws it.
  running.catch(() => undefined);
  const stop = () => {
    stopping.abort();
    return running;
  };
  onTestFinished(() => stop().catch(() => undefined));
  /** Sends many registrations, and more kinds of reads than the API has connections for them. */
  const burst = () => {
    const reads = () => [
      client.registration(reference),
      client.pass(reference),
      client.request('/api/v1/events/registrations'),
    ];
    return Promise.all(Array.from({ length: 40 }, () => [register(), ...reads()]).flat());
  };
  return { stop, burst };
}

/** The mail server refuses some addresses, and loses answers. One receiver accepts, one fails, one wants no more messages. */
async function refuseDeliveries({ receivers, mailServer }: Installation, seen: Seen): Promise<void> {
  mailServer.onRecipient = (address) => {
    if (address.startsWith('greylisted')) return { responseCode: 451, message: '4.7.1 try later' };
    if (address.startsWith('unknown')) return { responseCode: 550, message: '5.1.1 no such user' };
    return undefined;
  };
  for (const { answer } of receivers) answer();
  await seen(['EmailsRefused', 'RetriesTooLong', 'WebhooksFailing', 'WebhooksDisabled']);
  mailServer.answers = false;
  const lost = tablesOf(given.database.db).selectFrom('deliveries').where('possibly_twice', '=', true);
  await waitUntil('an answer is lost', () => lost.select('subject').limit(1).executeTakeFirst());
  mailServer.answers = true;
  await makeDue(given.database.db);
  await seen(['EmailsPossiblyTwice']);
}

/** A batch is pending until Prometheus has seen it. Then its finalization fails in every attempt. */
async function failBatch(seen: Seen): Promise<void> {
  const { db } = given.database;
  const { batchId } = await commitBatch(db, await createFixture(db), { relayInSeconds: 600 });
  await refuseToConfirm(db, batchId);
  await seen(['ConfirmationsLate']);
  await sql`update batches set relay_at = now() where id = ${batchId}`.execute(db);
  await seen(['BatchesFailed']);
}

/** A device is silent and has kept scans, and a seat has let in two people. */
async function disturbDoors(seen: Seen): Promise<void> {
  const { db } = given.database;
  const { eventId, partnerId, shardId } = await createFixture(db);
  const { id } = await addDevice(db, eventId, [await addGate(db, eventId)]);
  await sql`
    update gates set opens_at = now() - interval '1 h', closes_at = now() + interval '1 h'
    where event_id = ${eventId}`.execute(db);
  await sql`
    update devices set public_key = '', last_contact_at = now() - interval '6 min', last_counter = 1
    where shard_id = ${shardId} and id = ${id}`.execute(db);
  await sql`
    insert into changes (shard_id, kind, event_id, partner_id, serials)
    values (${shardId}, 'admitted_again', ${eventId}, ${partnerId}, '{1}')`.execute(db);
  await seen(['DevicesSilent', 'ScansWaiting', 'DoorConflicts']);
}

/** A locked table blocks groups and reads: registrations wait and are answered 90, and reads wait for a connection. */
async function holdRegistrations(
  { burst }: Awaited<ReturnType<typeof startTraffic>>,
  seen: Seen,
): Promise<void> {
  const { release } = await holdTable(given.database.db, 'registrations');
  await seen(['sum(floodgate_api_waiting)', 'PoolExhausted', 'RegistrationsRefused'], burst);
  await release();
}
