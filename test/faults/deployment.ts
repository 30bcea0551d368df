import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect, distribute, migrate, type Database } from '@floodgate/database';
import { sql } from 'kysely';
import { withDatabase } from '../harness/database-url.ts';
import { findFreePort } from '../harness/free-port.ts';
import {
  startApiProcess,
  startDeliveryProcess,
  startWorkerProcess,
  type Environment,
  type ServiceProcess,
} from '../harness/service-process.ts';
import { createServiceRoles, grantServiceRoles } from '../harness/service-roles.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { startRedisCluster, type RedisCluster } from '../servers/redis-cluster.ts';
import { startRedis, type RedisProcess } from '../servers/redis.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { CitusUnderTest, type NodeUnderTest } from './citus-under-test.ts';
import { PostgresUnderTest } from './postgres-under-test.ts';
import { MailReceiver, WebhookReceiver } from './receivers.ts';
import { readStops, type Stop } from './stops.ts';

/** Named as the tests' databases are, so that the services connect with roles of their own. */
const DATABASE = 'floodgate_test_faults';
const START_WITHIN_MS = 60_000;
/** Of its output, what tells why a process has ended. */
const TAIL = 2_000;
/** Of the suite's own. */
const STATEMENT_TIMEOUT_MS = 10_000;
const WARNINGS = 12;
const APIS = 2;
const WORKERS = 2;
const DELIVERIES = 2;
/** What the receivers' moods follow from. */
const RECEIVERS_SEED = 1;

/** A part that can be killed and frozen. */
export interface Breakable {
  /** Ends it at once. */
  crash(): Promise<void>;
  /** Starts it again; resolves when it is ready. */
  recover(): Promise<void>;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
}

/** One of the service's processes, at the same address whenever it runs. */
export class ServiceUnderTest implements Breakable {
  readonly #launch: (more: Environment) => Promise<ServiceProcess>;
  readonly #misfortunes: string[] = [];
  /** Warnings of its processes that have ended. */
  readonly #earlier: Warning[] = [];
  #process: ServiceProcess | null = null;

  constructor(launch: (more: Environment) => Promise<ServiceProcess>) {
    this.#launch = launch;
  }

  /** Starts it where it does not run, and again where it does not come up, as its supervisor would. */
  async start(more: Environment = {}): Promise<void> {
    if (this.#process) return;
    const launched = await waitUntil(
      'the process starts',
      () => this.#launch(more).catch(() => null),
      START_WITHIN_MS,
    );
    this.#process = launched;
    void this.#watch(launched);
  }

  async #watch(launched: ServiceProcess): Promise<void> {
    try {
      const code = await launched.exited;
      if (this.#process === launched)
        this.#misfortunes.push(`ended by itself with ${code}: ${unloggedOf(launched.output())}`);
    } catch (error) {
      // It has written what is private.
      this.#misfortunes.push(String(error));
    }
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process?.child.kill(signal);
  }

  async crash(): Promise<void> {
    await this.end('SIGKILL');
  }

  recover(): Promise<void> {
    return this.start();
  }

  /** Ends it and answers the exit code. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    const ending = this.#process;
    this.#process = null;
    const code = (await ending?.end(signal)) ?? null;
    if (ending) this.#earlier.push(...warningsIn(ending.output()));
    return code;
  }

  /** The last warnings and errors since a time of the epoch: in most cases they tell why a call failed. */
  warnings(sinceEpochMs: number): Warning[] {
    const all = [...this.#earlier, ...warningsIn(this.#process?.output() ?? '')];
    return all.filter(({ at }) => at >= sinceEpochMs).slice(-WARNINGS);
  }

  /** What went wrong when it ended: by itself, or having logged what it must not. */
  misfortunes(): readonly string[] {
    return this.#misfortunes;
  }
}

/** A warning or an error that a process has logged. */
export interface Warning {
  /** In milliseconds of the epoch. */
  at: number;
  text: string;
}

function warningsIn(output: string): Warning[] {
  const lines = output.split('\n').filter((line) => /^{"level":[456]0,.*}$/.test(line));
  return lines.map((line) => {
    const { time, msg, err } = JSON.parse(line) as { time: number; msg: string; err?: { message: string } };
    return { at: time, text: [msg, ...(err ? [err.message] : [])].join(' · ') };
  });
}

/** What is no log line tells best why a process has ended; where there is nothing, the last of them. */
function unloggedOf(output: string): string {
  const unlogged = output.split('\n').filter((line) => line !== '' && !line.startsWith('{"level":'));
  return (unlogged.length > 0 ? unlogged.join('\n') : output).slice(-TAIL);
}

/** The wires between the parts; a fault may cut or slow each down. */
export interface Wires {
  apiToPostgres: TcpProxy;
  /** Also of the delivery processes. */
  workerToPostgres: TcpProxy;
  /** The fault suite's own. */
  suiteToPostgres: TcpProxy;
  apiToRedis: TcpProxy;
  workerToRedis: TcpProxy;
  /** In front of each API; partners take them only where a fault is on this wire. */
  partnersToApis: TcpProxy[];
}

/**
 * The whole service with servers of its own: two APIs, two workers, two delivery processes, Postgres, Redis,
 * the wires between them, and those who are told outside.
 */
export interface Deployment extends AsyncDisposable {
  /** In a Citus cluster, its coordinator. */
  postgres: PostgresUnderTest;
  /** The worker nodes of a Citus cluster; elsewhere none. */
  nodes: readonly NodeUnderTest[];
  /** What the queue is on, unless that is a cluster. */
  redis: RedisUnderTest;
  cluster: RedisCluster | null;
  apis: ServiceUnderTest[];
  workers: ServiceUnderTest[];
  deliveries: ServiceUnderTest[];
  webhooks: WebhookReceiver;
  mails: MailReceiver;
  wires: Wires;
  apiUrls: string[];
  /** When each API stood still, by its own heartbeat. */
  stopsOfApis: () => Stop[][];
  /** As the owner. */
  db: Database;
}

/** A Redis that comes back empty, always at the same address. */
export class RedisUnderTest implements Breakable {
  #process: RedisProcess;
  #isRunning = true;

  private constructor(process: RedisProcess) {
    this.#process = process;
  }

  static async start(): Promise<RedisUnderTest> {
    return new RedisUnderTest(await startRedis());
  }

  get url(): string {
    return this.#process.url;
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    process.kill(this.#process.pid, signal);
  }

  async crash(): Promise<void> {
    if (this.#isRunning) await this.#process.kill();
    this.#isRunning = false;
  }

  async recover(): Promise<void> {
    if (!this.#isRunning) this.#process = await startRedis(undefined, this.#process.port);
    this.#isRunning = true;
  }
}

/** Which servers a deployment uses: one Postgres and one Redis, a Redis Cluster, or a Citus cluster. */
export type DeploymentKind = 'redis' | 'redis-cluster' | 'citus';

/** Starts all of it. The suite waits for a lost server for `statementTimeoutMs`. */
export async function deploy(
  kind: DeploymentKind,
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
): Promise<Deployment> {
  await using started = new AsyncDisposableStack();
  const citus = kind === 'citus' ? started.use(await CitusUnderTest.start(DATABASE)) : null;
  const postgres =
    citus?.coordinator ?? started.adopt(await startPostgresUnderTest(), (server) => server.stop());
  const redis = started.adopt(await RedisUnderTest.start(), (server) => server.crash());
  const cluster = kind === 'redis-cluster' ? started.use(await startRedisCluster()) : null;
  const wire = async (url: string) => started.adopt(await TcpProxy.start(url), (proxy) => proxy.stop());
  const ports = await Promise.all(Array.from({ length: APIS }, findFreePort));
  const apiUrls = ports.map((port) => `http://127.0.0.1:${port}`);
  const wires: Wires = {
    apiToPostgres: await wire(postgres.url()),
    workerToPostgres: await wire(postgres.url()),
    suiteToPostgres: await wire(postgres.url()),
    apiToRedis: await wire(redis.url),
    workerToRedis: await wire(redis.url),
    partnersToApis: await Promise.all(apiUrls.map(wire)),
  };
  if (!citus) await createDatabase(postgres.url(), DATABASE);
  const databaseUrl = withDatabase(postgres.url(), DATABASE);
  const db = started.adopt(
    openDatabase(wires.suiteToPostgres.through(databaseUrl), statementTimeoutMs),
    (pool) => pool.destroy(),
  );
  await migrateAll(databaseUrl);
  await createServiceRoles(db, postgres.url());
  await grantServiceRoles(db);
  const heartbeats = await mkdtemp(path.join(tmpdir(), 'floodgate-heartbeats-'));
  started.defer(() => rm(heartbeats, { recursive: true }));
  const apis = ports.map((port) => {
    const env = {
      LOG_LEVEL: 'trace',
      NODE_OPTIONS: `--import=${new URL('heartbeat.ts', import.meta.url).href}`,
      HEARTBEAT_FILE: path.join(heartbeats, String(port)),
      DATABASE_URL: wires.apiToPostgres.through(databaseUrl),
      // So a free seat is always for the oldest entry that it can serve.
      HOLD_SHARE_PERCENT: '100',
      QUEUE_URL: cluster?.url ?? wires.apiToRedis.through(redis.url),
      PORT: String(port),
    };
    // The defaults: how fast the service recovers is part of what is judged.
    const limits = { ANSWER_WITHIN_MS: '3000', READ_WITHIN_MS: '1000' };
    return new ServiceUnderTest((more) => startApiProcess({ ...limits, ...env, ...more }));
  });
  const workers = Array.from({ length: WORKERS }, () => {
    const env = {
      LOG_LEVEL: 'trace',
      DATABASE_URL: wires.workerToPostgres.through(databaseUrl),
      HOLD_SHARE_PERCENT: '100',
      QUEUE_URL: cluster?.url ?? wires.workerToRedis.through(redis.url),
    };
    return new ServiceUnderTest((more) => startWorkerProcess({ ...env, ...more }));
  });
  const webhooks = started.use(await WebhookReceiver.start(RECEIVERS_SEED));
  const mails = started.use(await MailReceiver.start(RECEIVERS_SEED));
  const deliveries = Array.from({ length: DELIVERIES }, () => {
    const env = {
      LOG_LEVEL: 'trace',
      DATABASE_URL: wires.workerToPostgres.through(databaseUrl),
      SMTP_URL: mails.url,
      MAIL_FROM: 'tickets@example.com',
      WEBHOOK_ALLOW_PRIVATE: 'true',
    };
    return new ServiceUnderTest((more) => startDeliveryProcess({ ...env, ...more }));
  });
  for (const service of [...apis, ...workers, ...deliveries]) {
    started.defer(() => service.crash());
    await service.start();
  }
  const owned = started.move();
  return {
    postgres,
    nodes: citus?.nodes ?? [],
    redis,
    cluster,
    apis,
    workers,
    deliveries,
    webhooks,
    mails,
    wires,
    apiUrls,
    stopsOfApis: () => ports.map((port) => readStops(path.join(heartbeats, String(port)))),
    db,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function startPostgresUnderTest(): Promise<PostgresUnderTest> {
  return PostgresUnderTest.start(await mkdtemp(path.join(tmpdir(), 'floodgate-faults-')));
}

async function createDatabase(serverUrl: string, name: string): Promise<void> {
  await using server = openDatabase(serverUrl);
  await sql`create database ${sql.id(name)}`.execute(server);
}

/** Makes the tables; in a Citus cluster they are spread over its nodes. */
async function migrateAll(databaseUrl: string): Promise<void> {
  await using db = openDatabase(databaseUrl);
  await migrate(db);
  await distribute(db);
}

function openDatabase(connectionString: string, statementTimeoutMs?: number): Database {
  return connect({
    connectionString,
    ...(statementTimeoutMs !== undefined && { statementTimeoutMs }),
    applicationName: 'fault suite',
    maxConnections: 3,
    connectTimeoutMs: 10_000,
  });
}
