import { once } from 'node:events';
import { Queue, Worker } from 'bullmq';
import { Cluster, Redis, type StandaloneConnectionOptions } from 'ioredis';
import { StandaloneConnector } from 'ioredis/built/connectors/index.js';
import { NO_DATABASE, reasonOf } from '@floodgate/service/failure';
import type { QueueBackend } from './backend.ts';
import { SILENCE_MS, UnsafeQueueError, type QueueOptions, type QueueTarget, type Role } from './settings.ts';

const CONNECT_TIMEOUT_MS = 2_000;

type RedisTarget = Exclude<QueueTarget, { kind: 'postgres' }>;

/**
 * A queue on Redis, on a Redis with Sentinel, or on a Redis Cluster. The braces keep the keys of an
 * installation in one hash slot.
 */
export function redisBackend(target: RedisTarget, options: QueueOptions, role: Role): QueueBackend {
  const redis = connect(target, role);
  redis.on('error', options.onError);
  const server = { connection: redis, prefix: `{${options.namespace}}` };
  return {
    queue: (name) => new Queue(name, server),
    worker: (name, processor, settings) => new Worker(name, processor, { ...settings, ...server }),
    isUp: () => redis.status === 'ready',
    problem: followProblem(redis, schemeOf(target)),
    verify: async () => {
      if (redis.status !== 'ready')
        await once(redis, 'ready', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
      await assertNoEviction(redis);
    },
    close: async () => redis.disconnect(),
  };
}

/**
 * While Redis is down, a producer fails immediately (the outbox has the batch already) and a consumer waits.
 */
function connect(target: RedisTarget, role: Role) {
  const enableOfflineQueue = role === 'consumer';
  const shared = {
    maxRetriesPerRequest: role === 'consumer' ? null : 0,
    ...(role === 'producer' && { commandTimeout: SILENCE_MS.producer }),
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_MS[role],
  };
  const single = { ...shared, enableOfflineQueue, retryStrategy: reconnectDelayMs };
  if (target.kind === 'redis') return new Redis(target.url, { ...single, Connector });
  if (target.kind === 'redis-sentinel')
    return new Redis({ ...target.options, ...single, sentinelRetryStrategy: reconnectDelayMs });
  return new Cluster(target.nodes, {
    enableOfflineQueue,
    clusterRetryStrategy: reconnectDelayMs,
    redisOptions: { ...shared, ...target.options, Connector },
  });
}

const reconnectDelayMs = (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 6), 1_000);

const schemeOf = (target: RedisTarget) =>
  (target.kind === 'redis' ? target.url.startsWith('rediss:') : 'tls' in target.options) ? 'rediss' : 'redis';

// Redis gives no clearer sign that TLS is missing or not expected.
const HINTS: Record<string, string> = {
  'redis: connection reset': 'connection reset (TLS may be needed: rediss)',
  'redis: connection closed': 'connection closed (TLS may be needed: rediss)',
  'rediss: connection closed': 'connection closed (the certificate may not be accepted)',
  'rediss: no answer': 'no answer (the server may not support TLS: redis)',
};

/** Returns a function that returns the reason why the connection is down, or null while it is up. */
function followProblem(redis: Redis | Cluster, scheme: 'redis' | 'rediss') {
  let problem = 'no answer';
  redis.on('ready', () => (problem = 'no answer'));
  redis.on('error', (error: Error) => {
    // A consequence of an error that was reported before.
    if (error.message.startsWith("Stream isn't writeable")) return;
    const reason = reasonOf(error);
    problem = HINTS[`${scheme}: ${reason}`] ?? reason;
    // Otherwise ioredis would continue with database 0.
    if (reason === NO_DATABASE) redis.disconnect(true);
  });
  return () => (redis.status === 'ready' ? null : problem);
}

// ioredis listens only to the first error of a socket. A TLS handshake that ends early emits two, and an
// error without a listener ends the process. BullMQ copies a connection together with this connector.
class Connector extends StandaloneConnector {
  constructor(options: unknown) {
    super(options as StandaloneConnectionOptions);
  }

  override async connect(...args: Parameters<StandaloneConnector['connect']>) {
    const stream = await super.connect(...args);
    return stream.on('error', () => {});
  }
}

/** Throws UnsafeQueueError if a server may evict keys when its memory is full. */
async function assertNoEviction(redis: Redis | Cluster) {
  const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis];
  // INFO, not CONFIG GET: managed services often forbid the latter.
  const infos = await Promise.all(nodes.map((node) => node.info('memory')));
  const policies = infos.map((info) => /^maxmemory_policy:(\S+)/m.exec(info)?.[1]);
  const unsafe = policies.find((policy) => policy !== undefined && policy !== 'noeviction');
  if (unsafe === undefined) return;
  throw new UnsafeQueueError(
    `Redis has maxmemory-policy "${unsafe}" and could evict jobs when its memory is full. Set it to noeviction: ` +
      '"maxmemory-policy noeviction" in redis.conf, or redis-cli CONFIG SET maxmemory-policy noeviction',
  );
}
