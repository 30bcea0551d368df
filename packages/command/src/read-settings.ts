import { Type } from '@sinclair/typebox';
import { databaseSettings } from '@floodgate/database/connection/settings';
import { parseQueueUrl } from '@floodgate/queue/queue-url';
import { queueSettings } from '@floodgate/queue/settings';
import { loadConfig } from '@floodgate/service/load-config';
import type { CliSettings, QueueSettings } from './settings.ts';

const { QUEUE_URL, QUEUE_NAMESPACE } = queueSettings;
const WithQueue = Type.Object({ ...databaseSettings, QUEUE_URL, QUEUE_NAMESPACE });

/** What the operator's command reads from its environment. */
export const CliEnvironment = Type.Object({ ...WithQueue.properties, QUEUE_URL: Type.Optional(QUEUE_URL) });

/** Reads the environment. Throws ConfigError, naming what is wrong or missing. */
export function readSettings(env: NodeJS.ProcessEnv): CliSettings {
  const { DATABASE_URL, QUEUE_URL: url, QUEUE_NAMESPACE: namespace } = loadConfig(CliEnvironment, env);
  return {
    databaseUrl: DATABASE_URL,
    queue: url === undefined ? null : { target: parseQueueUrl(url), namespace },
  };
}

/** The same where a queue is needed. */
export function readSettingsWithQueue(env: NodeJS.ProcessEnv): CliSettings & { queue: QueueSettings } {
  const { DATABASE_URL, QUEUE_URL: url, QUEUE_NAMESPACE: namespace } = loadConfig(WithQueue, env);
  return { databaseUrl: DATABASE_URL, queue: { target: parseQueueUrl(url), namespace } };
}
