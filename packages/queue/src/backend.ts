import type { BackendOptions } from './settings.ts';
import { postgresBackend } from './postgres-backend.ts';
import { redisBackend } from './redis-backend.ts';

/** A connection to the server of the queues, in the role of producer or consumer. */
export type QueueBackend = ReturnType<typeof redisBackend>;

/** Opens the backend that QUEUE_URL chose. It need not be up. */
export function openBackend(options: BackendOptions): QueueBackend {
  const { target } = options;
  return target.kind === 'postgres' ? postgresBackend(target, options) : redisBackend(target, options);
}
