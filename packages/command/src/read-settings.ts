import { Type } from '@sinclair/typebox';
import { databaseSettings } from '@floodgate/database/connection/settings';
import { parseQueueUrl } from '@floodgate/queue/queue-url';
import { queueSettings } from '@floodgate/queue/settings';
import { ConfigError } from '@floodgate/service/failure';
import { loadConfig } from '@floodgate/service/load-config';
import type { CliSettings } from './settings.ts';

const { QUEUE_URL, QUEUE_NAMESPACE } = queueSettings;

/** What the operator's command reads from its environment. */
export const CliEnvironment = Type.Object({
  ...databaseSettings,
  QUEUE_URL: Type.Optional(QUEUE_URL),
  QUEUE_NAMESPACE,
});

/** Reads the environment. Throws ConfigError, naming what is wrong or missing. */
export function readSettings(env: NodeJS.ProcessEnv): CliSettings {
  const settings = loadConfig(CliEnvironment, env);
  const { DATABASE_URL: databaseUrl, QUEUE_URL: url, QUEUE_NAMESPACE: namespace } = settings;
  return { databaseUrl, queue: url === undefined ? null : { target: parseQueueUrl(url), namespace } };
}

/** Throws ConfigError: a queue is needed, and none is named. */
export function refuseWithoutQueue(): never {
  throw new ConfigError(`QUEUE_URL is not set: ${QUEUE_URL.description}`);
}
