/** Where the queue lives, as QUEUE_URL says it. */
export type QueueTarget =
  | { kind: 'redis'; url: string }
  | {
      kind: 'redis-cluster';
      nodes: { host: string; port: number }[];
      tls: boolean;
      username?: string;
      password?: string;
    }
  | { kind: 'postgres'; connectionString: string };

export const QUEUE_URL_FORMS =
  'redis://…, rediss://…, redis-cluster://host:port,host:port, rediss-cluster://… or postgres://…; ' +
  'a database of Redis is a whole number (redis://host:port/1), of a cluster always 0';

/**
 * Reads QUEUE_URL. A cluster is `redis-cluster://[user:password@]host:port[,host:port…]` (`rediss-cluster` with TLS).
 * Throws, naming the forms, where it is none of them. The message never repeats the URL: it may hold a password.
 */
export function parseQueueUrl(text: string): QueueTarget {
  const scheme = /^([a-z-]+):\/\/[^/]/.exec(text)?.[1];
  switch (scheme) {
    case 'redis':
    case 'rediss':
      if (!isDatabaseNumber(databaseIn(text))) throw new Error(`expected ${QUEUE_URL_FORMS}`);
      return { kind: 'redis', url: text };
    case 'postgres':
    case 'postgresql':
      return { kind: 'postgres', connectionString: text };
    case 'redis-cluster':
    case 'rediss-cluster':
      return parseCluster(text.slice(scheme.length + 3), scheme === 'rediss-cluster');
    case undefined:
    default:
      throw new Error(`expected ${QUEUE_URL_FORMS}`);
  }
}

// Of what is none, ioredis makes 0 or fails without a word of why.
const isDatabaseNumber = (text: string) => /^(0|[1-9]\d{0,8})?$/.test(text);

/** ioredis also reads it from the query. */
function databaseIn(text: string): string {
  const url = URL.parse(text);
  return url?.pathname.slice(1) || (url?.searchParams.get('db') ?? '');
}

function parseCluster(text: string, tls: boolean): QueueTarget {
  const at = text.lastIndexOf('@');
  const [list = '', database = ''] = text.slice(at + 1).split(/\/(.*)/s);
  if (!/^0?$/.test(database)) throw new Error(`expected ${QUEUE_URL_FORMS}`);
  const nodes = list.split(',').map(parseNode);
  return { kind: 'redis-cluster', nodes, tls, ...(at >= 0 && parseCredentials(text.slice(0, at))) };
}

// A name, an IPv4 address, or an IPv6 address in brackets, which the client wants without them.
const NODE = /^(?:\[([0-9a-f:.]+)\]|([^\s:[\]]+))(?::(\d{1,5}))?$/i;

function parseNode(text: string): { host: string; port: number } {
  const match = NODE.exec(text);
  const host = match?.[1] ?? match?.[2];
  if (!host) throw new Error(`expected ${QUEUE_URL_FORMS}`);
  return { host, port: Number(match?.[3] ?? 6379) };
}

function parseCredentials(text: string): { username?: string; password?: string } {
  const colon = text.indexOf(':');
  const [username, password] = colon < 0 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)];
  try {
    return {
      ...(username && { username: decodeURIComponent(username) }),
      ...(password && { password: decodeURIComponent(password) }),
    };
  } catch {
    throw new Error(`expected ${QUEUE_URL_FORMS}`);
  }
}
