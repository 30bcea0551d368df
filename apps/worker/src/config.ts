import { Type, type Static, type TObject, type TProperties } from '@sinclair/typebox';
import { databaseSettings } from '@floodgate/database';
import { port, processSettings, whole } from '@floodgate/service';
import {
  consumerSettings,
  producerSettings,
  queueNames,
  queueSettings,
  type WorkerCapability,
} from '@floodgate/queue';
import { CAPABILITIES } from './capabilities.ts';

const ownSettings = {
  ...databaseSettings,
  ...queueSettings,
  ...processSettings,
  WORKER_HOST: Type.String({ default: '0.0.0.0', description: 'address of the health endpoint' }),
  WORKER_PORT: port('port of the health endpoint', 3001),
  WORKER_QUEUES: Type.String(),
  STALLED_AFTER_MS: whole('time without progress, while there is work, after which the worker is unhealthy', {
    minimum: 100,
    maximum: 3_600_000,
    default: 30_000,
  }),
};

/** Returns everything that a worker with these capabilities reads from its environment; typed is what it has by itself. */
export function workerConfig(capabilities: readonly WorkerCapability[]): TObject<typeof ownSettings> {
  const jobs = capabilities.flatMap((capability) => capability.jobs);
  const queues = queueNames(jobs);
  return Type.Object({
    ...ownSettings,
    WORKER_QUEUES: Type.String({
      pattern: `^(${queues.join('|')})(,(${queues.join('|')}))*$`,
      default: queues.join(','),
      description: `queues to work on, separated by commas: ${queues.join(', ')}`,
    }),
    ...producerSettings(jobs),
    ...consumerSettings(jobs),
    ...(Object.assign({}, ...capabilities.map(({ settings }) => settings)) as TProperties),
  });
}

export const WorkerConfig = workerConfig(CAPABILITIES);
export type WorkerConfig = Static<typeof WorkerConfig>;
