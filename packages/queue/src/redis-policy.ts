import type { Cluster, Redis } from 'ioredis';

/** The queue is configured so that it could lose jobs. */
export class UnsafeQueueError extends Error {
  override name = 'UnsafeQueueError';
}

/** Throws UnsafeQueueError, saying how to mend it, where a Redis may evict keys when its memory is full. */
export async function assertNoEviction(redis: Redis | Cluster): Promise<void> {
  const nodes = redis.isCluster ? (redis as Cluster).nodes('master') : [redis as Redis];
  const policies = await Promise.all(nodes.map(readPolicy));
  const unsafe = policies.find((policy) => policy !== undefined && policy !== 'noeviction');
  if (unsafe === undefined) return;
  throw new UnsafeQueueError(
    `Redis has maxmemory-policy "${unsafe}" and could throw jobs away when its memory is full. Set it to noeviction: ` +
      '"maxmemory-policy noeviction" in redis.conf, or redis-cli CONFIG SET maxmemory-policy noeviction',
  );
}

// INFO, not CONFIG GET: managed services often forbid the latter.
async function readPolicy(redis: Redis): Promise<string | undefined> {
  return /^maxmemory_policy:(\S+)/m.exec(await redis.info('memory'))?.[1];
}
