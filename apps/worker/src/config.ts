import { Type, type Static } from '@sinclair/typebox';
import { databaseSettings } from '@floodgate/database';
import { port, processSettings, whole } from '@floodgate/service';
import { queueSettings, QUEUE_NAMES, type QueueName } from '@floodgate/queue';

/** Everything that the worker reads from its environment. */
export const WorkerConfig = Type.Object({
  ...databaseSettings,
  ...queueSettings,
  ...processSettings,
  WORKER_HOST: Type.String({ default: '0.0.0.0', description: 'address of the health endpoint' }),
  WORKER_PORT: port('port of the health endpoint', 3001),
  WORKER_QUEUES: Type.String({
    pattern: `^(${QUEUE_NAMES.join('|')})(,(${QUEUE_NAMES.join('|')}))*$`,
    default: QUEUE_NAMES.join(','),
    description: `queues to work on, separated by commas: ${QUEUE_NAMES.join(', ')}`,
  }),
  FINALIZE_CONCURRENCY: whole('batches finalized at once', { minimum: 1, maximum: 1_000, default: 16 }),
  RELAY_INTERVAL_MS: whole('how often the outbox is looked through', {
    minimum: 50,
    maximum: 60_000,
    default: 1_000,
  }),
  STALLED_AFTER_MS: whole('time without progress, while there is work, after which the worker is unhealthy', {
    minimum: 100,
    maximum: 3_600_000,
    default: 30_000,
  }),
});

export type WorkerConfig = Static<typeof WorkerConfig>;

/** How many jobs of each chosen queue run at once. */
export function concurrencyOf(config: WorkerConfig): Partial<Record<QueueName, number>> {
  const all: Record<QueueName, number> = { finalize: config.FINALIZE_CONCURRENCY };
  const chosen = config.WORKER_QUEUES.split(',') as QueueName[];
  return Object.fromEntries(chosen.map((name) => [name, all[name]]));
}
