import { once } from 'node:events';
import { Queue, Worker } from 'bullmq';
import { Cluster, Redis, type StandaloneConnectionOptions } from 'ioredis';
import { StandaloneConnector } from 'ioredis/built/connectors/index.js';
import { NO_DATABASE, reasonOf } from '@floodgate/service/failure';
import { CONNECT_TIMEOUT_MS, SILENCE_MS, UnsafeQueueError } from './backend.ts';
import type { BackendOptions, QueueBackend } from './backend.ts';
import { partitionPrefixes } from './partitions.ts';
import type { QueueTarget } from './queue-url.ts';

type RedisTarget = Exclude<QueueTarget, { kind: 'postgres' }>;

/** A queue on Redis or a Redis Cluster. */
export function redisBackend(target: RedisTarget, options: BackendOptions): QueueBackend {
  const redis = connectRedis(target, options);
  const problem = followProblem(redis, target);
  const prefixes = partitionPrefixes(target, options.namespace);
  const where = (partition: number) => ({ connection: redis, prefix: prefixes[partition]! });
  return {
    partitions: prefixes.length,
    queue: ({ queue, partition }) => new Queue(queue, where(partition)),
    worker: ({ queue, partition }, processor, settings) =>
      new Worker(queue, processor, { ...settings, ...where(partition) }),
    isUp: () => redis.status === 'ready',
    problem,
    verify: async () => {
      if (redis.status !== 'ready')
        await once(redis, 'ready', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
      await assertNoEviction(redis);
    },
    close: async () => redis.disconnect(),
  };
}

/**
 * A producer fails at once while Redis is away (the outbox has the batch already), and soon while it does not answer; a
 * consumer waits.
 */
function connectRedis(target: RedisTarget, { role, onError }: BackendOptions): Redis | Cluster {
  const redis = open(target, role);
  redis.on('error', onError);
  return redis;
}

function open(target: RedisTarget, role: BackendOptions['role']): Redis | Cluster {
  const enableOfflineQueue = role === 'consumer';
  const shared = {
    ...(role === 'consumer'
      ? { maxRetriesPerRequest: null }
      : { maxRetriesPerRequest: 0, commandTimeout: SILENCE_MS.producer }),
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_MS[role],
  };
  const single = { ...shared, enableOfflineQueue, retryStrategy: reconnectDelayMs };
  if (target.kind === 'redis') return new Redis(target.url, { ...single, Connector });
  const credentials = {
    ...(target.username && { username: target.username }),
    ...(target.password && { password: target.password }),
  };
  if (target.kind === 'redis-sentinel') {
    const { sentinels, name, database: db } = target;
    return new Redis({
      ...single,
      ...credentials,
      sentinels,
      name,
      db,
      sentinelRetryStrategy: reconnectDelayMs,
    });
  }
  return new Cluster(target.nodes, {
    enableOfflineQueue,
    clusterRetryStrategy: reconnectDelayMs,
    redisOptions: { ...shared, Connector, ...(target.tls && { tls: {} }), ...credentials },
  });
}

const reconnectDelayMs = (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 6), 1_000);

// Of itself Redis says no more to whoever speaks TLS to it, or does not.
const HINTS: Record<string, string> = {
  'redis: connection reset': 'connection reset (TLS may be needed: rediss)',
  'redis: connection closed': 'connection closed (TLS may be needed: rediss)',
  'rediss: connection closed': 'connection closed (the certificate may not be accepted)',
  'rediss: no answer': 'no answer (TLS may not be spoken here: redis)',
};

/** Returns a function that says why the connection is down; null while it is up. */
function followProblem(redis: Redis | Cluster, target: RedisTarget): () => string | null {
  const isTls = target.kind === 'redis' ? target.url.startsWith('rediss:') : 'tls' in target && target.tls;
  let problem = 'no answer';
  redis.on('ready', () => (problem = 'no answer'));
  redis.on('error', (error: Error) => {
    // It follows from an error that was told before.
    if (error.message.startsWith("Stream isn't writeable")) return;
    const reason = reasonOf(error);
    problem = HINTS[`${isTls ? 'rediss' : 'redis'}: ${reason}`] ?? reason;
    // Otherwise ioredis would go on with database 0.
    if (reason === NO_DATABASE) redis.disconnect(true);
  });
  return () => (redis.status === 'ready' ? null : problem);
}

// ioredis listens to the first error of a socket only. A TLS handshake that ends early has two, and one that nobody
// listens to ends the process. BullMQ's copies of a connection take the connector with them.
class Connector extends StandaloneConnector {
  constructor(options: unknown) {
    super(options as StandaloneConnectionOptions);
  }

  override async connect(...args: Parameters<StandaloneConnector['connect']>) {
    const stream = await super.connect(...args);
    return stream.on('error', () => {});
  }
}

/** Throws UnsafeQueueError, saying how to mend it, where a Redis may evict keys when its memory is full. */
async function assertNoEviction(redis: Redis | Cluster): Promise<void> {
  const nodes = redis.isCluster ? (redis as Cluster).nodes('master') : [redis as Redis];
  // INFO, not CONFIG GET: managed services often forbid the latter.
  const infos = await Promise.all(nodes.map((node) => node.info('memory')));
  const policies = infos.map((info) => /^maxmemory_policy:(\S+)/m.exec(info)?.[1]);
  const unsafe = policies.find((policy) => policy !== undefined && policy !== 'noeviction');
  if (unsafe === undefined) return;
  throw new UnsafeQueueError(
    `Redis has maxmemory-policy "${unsafe}" and could throw jobs away when its memory is full. Set it to noeviction: ` +
      '"maxmemory-policy noeviction" in redis.conf, or redis-cli CONFIG SET maxmemory-policy noeviction',
  );
}
