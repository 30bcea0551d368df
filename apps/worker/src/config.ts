import { Type, type Static } from '@sinclair/typebox';
import { databaseSettings } from '@floodgate/database';
import { port, processSettings, whole } from '@floodgate/service';
import { queueSettings, type WorkerCapability } from '@floodgate/queue';
import { CAPABILITIES } from './capabilities.ts';

/** Returns the settings of a worker with these capabilities. The type has only the worker's own. */
export function workerConfig(capabilities: readonly WorkerCapability[]) {
  const settings = capabilities.map((one) => one.settings);
  return Type.Object({
    ...databaseSettings,
    ...queueSettings,
    ...processSettings,
    WORKER_HOST: Type.String({ default: '0.0.0.0', description: 'address of the health endpoint' }),
    WORKER_PORT: port('port of the health endpoint', 3001),
    STALLED_AFTER_MS: whole(
      'time without progress after which a worker with work is unhealthy',
      [100, 3_600_000],
      30_000,
    ),
    ...(Object.assign({}, ...settings) as object),
  });
}

export const WorkerConfig = workerConfig(CAPABILITIES);
export type WorkerConfig = Static<typeof WorkerConfig>;
