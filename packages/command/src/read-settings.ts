import { Type } from '@sinclair/typebox';
import { databaseSettings } from '@floodgate/database/connection/settings';
import { parseQueueUrl, queueSettings } from '@floodgate/queue/settings';
import { loadConfig } from '@floodgate/service/load-config';

const settings = { ...databaseSettings, ...queueSettings };
const WithQueue = Type.Object(settings);

/** Settings of the operator's command. */
export const CliEnvironment = Type.Object({ ...settings, QUEUE_URL: Type.Optional(settings.QUEUE_URL) });

/**
 * Returns the database's URL, and the queue if QUEUE_URL is set. Throws ConfigError, also if a needed queue
 * is not set.
 */
export function readSettings(env: NodeJS.ProcessEnv, needsQueue: boolean) {
  const config = loadConfig(needsQueue ? WithQueue : CliEnvironment, env);
  const { DATABASE_URL: databaseUrl, QUEUE_URL: url, QUEUE_NAMESPACE: namespace } = config;
  return { databaseUrl, queue: url === undefined ? null : { target: parseQueueUrl(url), namespace } };
}
