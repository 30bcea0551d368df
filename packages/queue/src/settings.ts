import type { Logger } from '@floodgate/service';
import { isPostgresUrl } from '@floodgate/service/load-config';
import { FormatRegistry, Type } from '@sinclair/typebox';

/** The server of the queues that QUEUE_URL names. */
export type QueueTarget =
  | { kind: 'postgres'; connectionString: string }
  | { kind: 'redis'; url: string }
  | { kind: 'redis-sentinel'; options: SentinelOptions }
  | { kind: 'redis-cluster'; nodes: Node[]; options: ClusterOptions };

interface Node {
  host: string;
  port: number;
}

/** Those of Redis, not of its Sentinels. */
interface Credentials {
  username?: string;
  password?: string;
}

/** As ioredis expects them. */
interface SentinelOptions extends Credentials {
  sentinels: Node[];
  /** The name that the Sentinels watch. */
  name: string;
  db: number;
}

interface ClusterOptions extends Credentials {
  /** Present: the connections use TLS. */
  tls?: object;
}

export const QUEUE_URL_FORMS =
  'redis://…, rediss://…, redis+sentinel://host:port,host:port/name, redis-cluster://host:port,host:port, ' +
  'rediss-cluster://… or postgres://…; ' +
  'the database is a whole number (redis://host:port/1), on a cluster 0';

FormatRegistry.Set('queue-url', (text) => readQueueUrl(text) !== null);

/** Settings of every process that uses the queue. */
export const queueSettings = {
  QUEUE_URL: Type.String({ format: 'queue-url', description: `the queue: ${QUEUE_URL_FORMS}` }),
  QUEUE_NAMESPACE: Type.String({
    pattern: '^[a-z][a-z0-9_]{0,39}$',
    default: 'floodgate',
    description: 'separates installations that share a queue server: a–z, 0–9 and _, starting with a letter',
  }),
};

/** Returns the options of a producer or a consumer. */
export const queueOptions = (
  config: { QUEUE_URL: string; QUEUE_NAMESPACE: string },
  log: Pick<Logger, 'debug'>,
): QueueOptions => ({
  target: parseQueueUrl(config.QUEUE_URL),
  namespace: config.QUEUE_NAMESPACE,
  onError: (err) => log.debug({ err }, 'queue connection'),
});

// Own grammar: ioredis parses neither a list of Sentinels nor of cluster nodes from a URL, and one variable
// must name every kind of server.

/**
 * Parses QUEUE_URL. A cluster is `redis-cluster://[user:password@]host:port[,host:port…]` (`rediss-cluster`
 * with TLS). Sentinels are `redis+sentinel://[user:password@]host:port[,host:port…]/name[/database]`; user
 * and password are those of Redis. Throws an error that lists the forms. The error never repeats the URL,
 * which can contain a password.
 */
export function parseQueueUrl(text: string): QueueTarget {
  const target = readQueueUrl(text);
  if (!target) throw new Error(`expected ${QUEUE_URL_FORMS}`);
  return target;
}

/** Like parseQueueUrl, but returns null for any other text. */
function readQueueUrl(text: string): QueueTarget | null {
  try {
    if (isPostgresUrl(text)) return { kind: 'postgres', connectionString: text };
    return isRedisUrl(text) ? { kind: 'redis', url: text } : readServers(text);
  } catch {
    return null;
  }
}

/**
 * Checks the database as well: ioredis reads it from the path or the query, and treats text that is not a
 * number as 0 or fails without a reason.
 */
function isRedisUrl(text: string) {
  const url = /^rediss?:\/\//.test(text) && URL.parse(text);
  if (!url || !url.host) return false;
  decodeURIComponent(`${url.username}:${url.password}`);
  return /^(0|[1-9]\d{0,8})?$/.test(url.pathname.slice(1) || (url.searchParams.get('db') ?? ''));
}

const SERVERS = /^(redis\+sentinel|rediss?-cluster):\/\/(?:([^:]*?)(?::(.*))?@)?([^@/]+)(?:\/(.*))?$/s;

function readServers(text: string): QueueTarget | null {
  const [, scheme, username, password, hosts = '', path = ''] = SERVERS.exec(text) ?? [];
  const nodes = hosts.split(',').map(readNode);
  const credentials = {
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
  };
  if (scheme === 'redis+sentinel') {
    const watched = readWatched(path);
    return watched && { kind: 'redis-sentinel', options: { sentinels: nodes, ...watched, ...credentials } };
  }
  const options = { ...credentials, ...(scheme === 'rediss-cluster' && { tls: {} }) };
  return /^0?$/.test(path) ? { kind: 'redis-cluster', nodes, options } : null;
}

/** Returns the name that the Sentinels watch, and the database. */
function readWatched(path: string) {
  const [, name, db = 0] = /^([\w.-]+)(?:\/(0|[1-9]\d{0,8}))?$/.exec(path) ?? [];
  return name ? { name, db: Number(db) } : null;
}

/** Throws if the text is not a host. ioredis expects an IPv6 address without its brackets. */
function readNode(text: string): Node {
  const { hostname, port } = new URL(`redis://${text}`);
  if (!hostname) throw new Error('no host');
  return { host: hostname.replaceAll(/[[\]]/g, ''), port: Number(port || 6379) };
}

/**
 * A connection is replaced if an answer takes longer: a host or NAT that dropped the connection sends
 * nothing. The limit of the consumer is longer than BullMQ ever waits for a job (10 s).
 */
export const SILENCE_MS = { producer: 5_000, consumer: 15_000 };
export type Role = keyof typeof SILENCE_MS;

/** The queue could lose jobs because of its configuration, or is not prepared. */
export class UnsafeQueueError extends Error {
  override name = 'UnsafeQueueError';
}

/** The queue of an installation. */
export interface QueueOptions {
  target: QueueTarget;
  /** Separates installations that share a server. */
  namespace: string;
  /** Called with connection errors, once per connection attempt. */
  onError: (error: Error) => void;
}
