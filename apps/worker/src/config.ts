import { Type, type Static } from '@sinclair/typebox';
import { databaseSettings } from '@floodgate/database';
import { port, processSettings, whole } from '@floodgate/service';
import { queueSettings } from '@floodgate/queue';
import type { WorkerCapability } from '@floodgate/queue';
import { CAPABILITIES } from './capabilities.ts';

/** Returns everything that a worker with these capabilities reads from its environment; typed is what it has by itself. */
export function workerConfig(capabilities: readonly WorkerCapability[]) {
  const settings = capabilities.map((capability) => capability.settings);
  return Type.Object({
    ...databaseSettings,
    ...queueSettings,
    ...processSettings,
    WORKER_HOST: Type.String({ default: '0.0.0.0', description: 'address of the health endpoint' }),
    WORKER_PORT: port('port of the health endpoint', 3001),
    STALLED_AFTER_MS: whole(
      'time without progress, while there is work, after which the worker is unhealthy',
      [100, 3_600_000],
      30_000,
    ),
    ...(Object.assign({}, ...settings) as object),
  });
}

export const WorkerConfig = workerConfig(CAPABILITIES);
export type WorkerConfig = Static<typeof WorkerConfig>;
