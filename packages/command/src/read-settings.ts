import { Type } from '@sinclair/typebox';
import { databaseSettings } from '@floodgate/database/connection/settings';
import { parseQueueUrl, queueSettings } from '@floodgate/queue/settings';
import { loadConfig } from '@floodgate/service/load-config';

const { QUEUE_URL, QUEUE_NAMESPACE } = queueSettings;
const WithQueue = Type.Object({ ...databaseSettings, QUEUE_URL, QUEUE_NAMESPACE });

/** The settings of the operator's command. */
export const CliEnvironment = Type.Object({ ...WithQueue.properties, QUEUE_URL: Type.Optional(QUEUE_URL) });

/** Returns where the database is, and the queue where QUEUE_URL is set. Throws ConfigError, also where a queue is needed and not set. */
export function readSettings(env: NodeJS.ProcessEnv, needsQueue: boolean) {
  const config = loadConfig(needsQueue ? WithQueue : CliEnvironment, env);
  const { DATABASE_URL, QUEUE_URL: url, QUEUE_NAMESPACE: namespace } = config;
  const queue = url === undefined ? null : { target: parseQueueUrl(url), namespace };
  return { databaseUrl: DATABASE_URL, queue };
}
