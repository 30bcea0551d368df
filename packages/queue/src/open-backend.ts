import type { BackendOptions, QueueBackend } from './backend.ts';
import { postgresBackend } from './postgres-backend.ts';
import { redisBackend } from './redis-backend.ts';

/** Opens the backend that QUEUE_URL chose. It need not be up. */
export function openBackend(options: BackendOptions): QueueBackend {
  const { target } = options;
  return target.kind === 'postgres' ? postgresBackend(target, options) : redisBackend(target, options);
}
