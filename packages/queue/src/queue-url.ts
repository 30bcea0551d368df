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
  'redis://…, rediss://…, redis-cluster://host:port,host:port, rediss-cluster://… or postgres://…';

/**
 * Reads QUEUE_URL. A cluster is `redis-cluster://[user:password@]host:port[,host:port…]` (`rediss-cluster` with TLS).
 * Throws, naming the forms, where it is none of them. The message never repeats the URL: it may hold a password.
 */
export function parseQueueUrl(text: string): QueueTarget {
  const scheme = /^([a-z-]+):\/\/[^/]/.exec(text)?.[1];
  switch (scheme) {
    case 'redis':
    case 'rediss':
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

function parseCluster(text: string, tls: boolean): QueueTarget {
  const at = text.lastIndexOf('@');
  const credentials = at < 0 ? {} : parseCredentials(text.slice(0, at));
  const nodes = text
    .slice(at + 1)
    .replace(/\/.*$/, '')
    .split(',')
    .map((node) => new URL(`redis://${node}`))
    .map((url) => ({ host: url.hostname, port: Number(url.port || 6379) }));
  return { kind: 'redis-cluster', nodes, tls, ...credentials };
}

function parseCredentials(text: string): { username?: string; password?: string } {
  const colon = text.indexOf(':');
  const username = decodeURIComponent(colon < 0 ? text : text.slice(0, colon));
  const password = colon < 0 ? '' : decodeURIComponent(text.slice(colon + 1));
  return { ...(username && { username }), ...(password && { password }) };
}
