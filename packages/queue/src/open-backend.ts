import type { BackendOptions, QueueBackend } from './backend.ts';
import { postgresBackend } from './postgres-backend.ts';
import type { QueueTarget } from './queue-url.ts';
import { redisBackend } from './redis-backend.ts';

/** Opens the backend that QUEUE_URL chose. A server that is down is not an error yet. */
export function openBackend(target: QueueTarget, options: BackendOptions): QueueBackend {
  return target.kind === 'postgres' ? postgresBackend(target, options) : redisBackend(target, options);
}
