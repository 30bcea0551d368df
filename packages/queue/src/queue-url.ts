import { isPostgresUrl } from '@floodgate/service/load-config';

type Node = { host: string; port: number };
type Credentials = { username?: string; password?: string };

/** Where the queue lives, as QUEUE_URL says it. */
export type QueueTarget =
  | { kind: 'redis'; url: string }
  | ({ kind: 'redis-cluster'; nodes: Node[]; tls: boolean } & Credentials)
  | ({ kind: 'redis-sentinel'; sentinels: Node[]; name: string; database: number } & Credentials)
  | { kind: 'postgres'; connectionString: string };

export const QUEUE_URL_FORMS =
  'redis://…, rediss://…, redis+sentinel://host:port,host:port/name, redis-cluster://host:port,host:port, ' +
  'rediss-cluster://… or postgres://…; ' +
  'a database of Redis is a whole number (redis://host:port/1), of a cluster always 0';

/**
 * Reads QUEUE_URL. A cluster is `redis-cluster://[user:password@]host:port[,host:port…]` (`rediss-cluster` with TLS). Sentinels
 * are `redis+sentinel://[user:password@]host:port[,host:port…]/name[/database]`; user and password are the Redis's.
 * Throws, naming the forms, where it is none of them. The message never repeats the URL: it may hold a password.
 */
export function parseQueueUrl(text: string): QueueTarget {
  const target = readQueueUrl(text);
  if (!target) throw new Error(`expected ${QUEUE_URL_FORMS}`);
  return target;
}

/** The same, but returns null where it is none of them. */
export function readQueueUrl(text: string): QueueTarget | null {
  const [scheme = '', rest = ''] = text.split(/:\/\/(.*)/s);
  switch (scheme) {
    case 'redis':
    case 'rediss':
      return isRedisUrl(text) ? { kind: 'redis', url: text } : null;
    case 'redis-cluster':
    case 'rediss-cluster':
      return readCluster(rest, scheme === 'rediss-cluster');
    case 'redis+sentinel':
      return readSentinels(rest);
    default:
      return isPostgresUrl(text) ? { kind: 'postgres', connectionString: text } : null;
  }
}

/** Of a database that is no number, ioredis makes 0 or fails without a word of why. It is also read from the query. */
function isRedisUrl(text: string): boolean {
  const url = URL.parse(text);
  if (!url?.host || !decode(url.username, url.password)) return false;
  return /^(0|[1-9]\d{0,8})?$/.test(url.pathname.slice(1) || (url.searchParams.get('db') ?? ''));
}

function readCluster(text: string, tls: boolean): QueueTarget | null {
  const parts = readNodes(text);
  if (!parts || !/^0?$/.test(parts.path)) return null;
  return { kind: 'redis-cluster', nodes: parts.nodes, tls, ...parts.credentials };
}

function readSentinels(text: string): QueueTarget | null {
  const parts = readNodes(text);
  const [, name, database = '0'] = /^([\w.-]+)(?:\/(0|[1-9]\d{0,8}))?$/.exec(parts?.path ?? '') ?? [];
  if (!parts || name === undefined) return null;
  const { nodes: sentinels, credentials } = parts;
  return { kind: 'redis-sentinel', sentinels, name, database: Number(database), ...credentials };
}

/** Reads `[user:password@]host:port[,host:port…][/path]`. Null where it is none. */
function readNodes(text: string) {
  const at = text.lastIndexOf('@');
  const [list = '', path = ''] = text.slice(at + 1).split(/\/(.*)/s);
  const [username = '', password = ''] = text.slice(0, Math.max(at, 0)).split(/:(.*)/s);
  const credentials = decode(username, password);
  const written = list.split(',');
  const nodes = written.flatMap(readNode);
  return credentials && nodes.length === written.length ? { nodes, credentials, path } : null;
}

/** An IPv6 address stands in brackets, which the client wants without them. */
function readNode(text: string): Node[] {
  const url = URL.parse(`redis://${text}`);
  if (!url?.hostname) return [];
  return [{ host: url.hostname.replaceAll(/[[\]]/g, ''), port: Number(url.port || 6379) }];
}

function decode(username: string, password: string): Credentials | null {
  try {
    return {
      ...(username && { username: decodeURIComponent(username) }),
      ...(password && { password: decodeURIComponent(password) }),
    };
  } catch {
    return null;
  }
}
