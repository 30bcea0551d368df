import type { BackendOptions } from './settings.ts';
import { postgresBackend } from './postgres-backend.ts';
import { redisBackend } from './redis-backend.ts';

/** A connection to the server of the queues, in the role of producer or consumer. */
export type QueueBackend = ReturnType<typeof redisBackend>;

/** Opens the backend that QUEUE_URL names. Its server can be down. */
export function openBackend(options: BackendOptions): QueueBackend {
  const { target } = options;
  return target.kind === 'postgres'
    ? postgresBackend(target.connectionString, options)
    : redisBackend(target, options);
}
