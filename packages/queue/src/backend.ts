import {
  createPostgresBackend,
  Queue,
  Worker,
  type Processor,
  type QueueOptions,
  type WorkerOptions,
} from 'bullmq';
import { Cluster, Redis } from 'ioredis';
import { Client, Pool, type ClientConfig } from 'pg';
import type { QueueTarget } from './queue-url.ts';
import { assertNoEviction } from './redis-policy.ts';

const CONNECT_TIMEOUT_MS = 2_000;
/**
 * A connection that is silent for so long while an answer is due is given up for a new one: a host or a NAT that forgets
 * it says nothing. A consumer's is longer than BullMQ ever waits for a job (10 s).
 */
const SILENCE_MS = { producer: 5_000, consumer: 15_000 };

/** A connection to where the queue lives, in the role of producer or consumer. */
export interface QueueBackend {
  queue(name: string, options?: Omit<QueueOptions, 'connection' | 'prefix'>): Queue;
  worker(name: string, processor: Processor, options: Omit<WorkerOptions, 'connection' | 'prefix'>): Worker;
  /** Whether a job that is added now can be expected to arrive. */
  isUp(): boolean;
  /** Resolves when the queue answers. Throws UnsafeQueueError where it could lose jobs; rejects where it is down. */
  verify(): Promise<void>;
  close(): Promise<void>;
}

export interface BackendOptions {
  /** Separates installations that share a server. */
  namespace: string;
  role: 'producer' | 'consumer';
  onError: (error: Error) => void;
}

/** Opens the backend that QUEUE_URL chose. A server that is down is not an error yet. */
export function openBackend(target: QueueTarget, options: BackendOptions): QueueBackend {
  return target.kind === 'postgres' ? postgresBackend(target, options) : redisBackend(target, options);
}

function redisBackend(
  target: Exclude<QueueTarget, { kind: 'postgres' }>,
  options: BackendOptions,
): QueueBackend {
  const redis = connectRedis(target, options);
  // Keys of one queue must share a slot in a Redis Cluster: hence the braces.
  const prefix = `{${options.namespace}}`;
  return {
    queue: (name, queueOptions) => new Queue(name, { ...queueOptions, connection: redis, prefix }),
    worker: (name, processor, workerOptions) =>
      new Worker(name, processor, { ...workerOptions, connection: redis, prefix }),
    isUp: () => redis.status === 'ready',
    verify: async () => {
      await ready(redis);
      await assertNoEviction(redis);
    },
    close: async () => redis.disconnect(),
  };
}

// A producer fails at once while Redis is away (the outbox has the batch already), and soon while it does not answer; a
// consumer waits.
const BEHAVIOUR = {
  producer: {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: SILENCE_MS.producer,
  },
  consumer: { enableOfflineQueue: true, maxRetriesPerRequest: null },
};

function connectRedis(
  target: Exclude<QueueTarget, { kind: 'postgres' }>,
  options: BackendOptions,
): Redis | Cluster {
  const { enableOfflineQueue, ...behaviour } = BEHAVIOUR[options.role];
  const shared = {
    ...behaviour,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_MS[options.role],
  };
  const redis =
    target.kind === 'redis'
      ? new Redis(target.url, { ...shared, enableOfflineQueue, retryStrategy: reconnectDelayMs })
      : new Cluster(target.nodes, {
          enableOfflineQueue,
          clusterRetryStrategy: reconnectDelayMs,
          redisOptions: {
            ...shared,
            ...(target.tls && { tls: {} }),
            ...(target.username && { username: target.username }),
            ...(target.password && { password: target.password }),
          },
        });
  redis.on('error', options.onError);
  return redis;
}

const reconnectDelayMs = (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 6), 1_000);

async function ready(redis: Redis | Cluster): Promise<void> {
  if (redis.status === 'ready') return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new Error('the queue does not answer')), CONNECT_TIMEOUT_MS);
  redis.once('ready', resolve);
  await promise.finally(() => {
    clearTimeout(timer);
    redis.off('ready', resolve);
  });
}

function postgresBackend(
  target: Extract<QueueTarget, { kind: 'postgres' }>,
  options: BackendOptions,
): QueueBackend {
  const connection = {
    connectionString: target.connectionString,
    schema: postgresSchema(options.namespace),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // The pool closes the connection with its query. BullMQ adds keepalive where it listens without a query.
    query_timeout: SILENCE_MS[options.role],
    max: 4,
    Client: ListenedClient,
  };
  const probe = new Pool({ ...connection, max: 1 });
  probe.on('error', options.onError);
  return {
    // BullMQ types a queue by its backend; what is used here is common to both.
    queue: (name, queueOptions) =>
      new Queue(name, { ...queueOptions, connection }, createPostgresBackend) as unknown as Queue,
    worker: (name, processor, workerOptions) =>
      new Worker(
        name,
        processor,
        { ...workerOptions, connection },
        createPostgresBackend,
      ) as unknown as Worker,
    // Without a connection to watch, an add simply fails; the queue shares the fate of the database.
    isUp: () => true,
    verify: async () => {
      await probe.query(`select 1 from "${connection.schema}".migration limit 1`);
    },
    close: () => probe.end(),
  };
}

/** Whether a query got no answer in time. */
export const isSilence = (error: Error) => error.message === 'Query read timeout';

/**
 * BullMQ takes connections from the pool without listening to their errors, and an error that nobody listens to ends
 * the process. The statement under which a connection is lost reports it anyway.
 */
class ListenedClient extends Client {
  constructor(config?: ClientConfig) {
    super(config);
    this.on('error', () => {});
  }
}

/** BullMQ's schema for a namespace: the Postgres counterpart of a key prefix. */
export function postgresSchema(namespace: string): string {
  return `${namespace.replaceAll(/[^a-z0-9_]/gi, '_')}_queue`;
}
