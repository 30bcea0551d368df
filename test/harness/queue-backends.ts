import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, inject } from 'vitest';
import { redisServerCommand, startRedis, type RedisProcess } from '../servers/redis.ts';
import { createTestDatabase } from './database.ts';
import { findFreePort } from './free-port.ts';
import { TcpProxy } from './tcp-proxy.ts';
import { TestQueue } from './test-queue.ts';
import { waitUntil } from './wait-until.ts';

/** A server of a queue. */
export interface QueueServer {
  /** As QUEUE_URL. */
  url: string;
  stop(): Promise<void>;
}

/** A server that a test can stop and restart. */
export interface FragileQueueServer extends QueueServer {
  goAway(): Promise<void>;
  /** Restarts at the same address. A Redis is empty afterwards. */
  comeBack(): Promise<void>;
}

/** A server behind a proxy. */
export interface QueueServerOnWire extends QueueServer {
  wire: TcpProxy;
}

/** One kind of server for QUEUE_URL. */
export interface QueueBackendKind {
  name: string;
  /** Reason why this machine cannot test it, or null. */
  missing: string | null;
  start(): Promise<QueueServer>;
  /** Starts a server that the test may break. */
  startFragile(): Promise<FragileQueueServer>;
  /** Starts a server behind a proxy that the test may break. */
  startOnWire(): Promise<QueueServerOnWire>;
}

const REDIS_SETTINGS = ['--maxmemory-policy', 'noeviction', '--save', '', '--appendonly', 'no'];
const noServer = redisServerCommand() ? null : 'no redis-server or valkey-server on the PATH';

const BACKENDS: readonly QueueBackendKind[] = [
  {
    name: 'Redis',
    missing: inject('redisUrl') ? null : inject('redisReason'),
    start: () => Promise.resolve({ url: inject('redisUrl')!, stop: () => Promise.resolve() }),
    startFragile: () => startFragileRedis(startRedis, ({ url }) => url),
    startOnWire: () => startRedisOnWire('redis'),
  },
  {
    name: 'Redis Cluster',
    missing: noServer,
    start: async () => {
      const { port, stop } = await startCluster();
      return { url: clusterUrl({ port }), stop };
    },
    startFragile: () => startFragileRedis((_, port) => startCluster(port), clusterUrl),
    startOnWire: () => startRedisOnWire('redis-cluster'),
  },
  {
    name: 'Postgres',
    missing: null,
    start: startPostgresQueue,
    startFragile: startPostgresQueue,
    startOnWire: startPostgresQueue,
  },
];

/** On Citus only the queue in Postgres, on the coordinator. */
export const QUEUE_BACKENDS =
  inject('engine') === 'citus' ? BACKENDS.filter(({ name }) => name === 'Postgres') : BACKENDS;

/** Returns the title of a test of the backend, with the reason if it is skipped. */
export function titleOf({ name, missing }: QueueBackendKind): string {
  return missing === null ? name : `${name} (${missing})`;
}

/** Before each test, calls `setUp` with the backend's server and a new queue. */
export function useQueue(
  backend: QueueBackendKind,
  setUp: (given: { server: QueueServer; queue: TestQueue }) => void,
): void {
  let server: QueueServer;
  let queue: TestQueue;
  beforeAll(async () => {
    server = await backend.start();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    queue = await TestQueue.open(server.url);
    setUp({ server, queue });
  });
  afterEach(() => queue.close());
}

const clusterUrl = ({ port }: { port: number }) => `redis-cluster://127.0.0.1:${port}`;

/** Starts a cluster of one node with all slots. */
async function startCluster(port?: number, announcedPort?: string): Promise<RedisProcess> {
  const busPort = String(await findFreePort());
  const settings = [
    '--cluster-enabled',
    'yes',
    '--cluster-port',
    busPort,
    '--cluster-announce-ip',
    '127.0.0.1',
    ...(announcedPort ? ['--cluster-announce-port', announcedPort] : []),
  ];
  const server = await startRedis([...REDIS_SETTINGS, ...settings], port);
  const client = new Redis(server.url);
  await client.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  await waitUntil('the cluster is ready', async () =>
    String(await client.call('CLUSTER', 'INFO')).includes('cluster_state:ok'),
  );
  client.disconnect();
  return server;
}

/** Starts a Redis or a cluster behind a proxy. */
async function startRedisOnWire(kind: 'redis' | 'redis-cluster'): Promise<QueueServerOnWire> {
  const port = await findFreePort();
  const wire = await TcpProxy.start(`redis://127.0.0.1:${port}`);
  const wirePort = new URL(wire.through('redis://127.0.0.1')).port;
  const server = await (kind === 'redis' ? startRedis(REDIS_SETTINGS, port) : startCluster(port, wirePort));
  return {
    url: `${kind}://127.0.0.1:${wirePort}`,
    wire,
    stop: async () => {
      await wire.stop();
      await server.stop();
    },
  };
}

async function startFragileRedis(
  start: (settings: readonly string[], port?: number) => Promise<RedisProcess>,
  urlOf: (server: RedisProcess) => string,
): Promise<FragileQueueServer> {
  let server: RedisProcess | null = await start(REDIS_SETTINGS);
  const { port } = server;
  return {
    url: urlOf(server),
    goAway: async () => {
      await server?.kill();
      server = null;
    },
    comeBack: async () => {
      server = await start(REDIS_SETTINGS, port);
    },
    stop: async () => server?.kill(),
  };
}

async function startPostgresQueue(): Promise<FragileQueueServer & QueueServerOnWire> {
  const database = await createTestDatabase();
  const proxy = await TcpProxy.start(database.url);
  return {
    url: proxy.through(database.url),
    wire: proxy,
    goAway: () => Promise.resolve(proxy.setMode('down')),
    comeBack: () => Promise.resolve(proxy.setMode('pass')),
    stop: async () => {
      await database.drop();
      await proxy.stop();
    },
  };
}
