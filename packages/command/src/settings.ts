import { Type } from '@sinclair/typebox';
import { ConfigError, loadConfig } from '@floodgate/service';
import { databaseSettings } from '@floodgate/database';
import { queueSettings, parseQueueUrl, type QueueTarget } from '@floodgate/queue';

const { QUEUE_URL, QUEUE_NAMESPACE } = queueSettings;

const Settings = Type.Object({
  ...databaseSettings,
  QUEUE_URL: Type.Optional(QUEUE_URL),
  QUEUE_NAMESPACE,
});

/** Where a queue is, and under which name. */
export interface QueueSettings {
  target: QueueTarget;
  namespace: string;
}

export interface CliSettings {
  databaseUrl: string;
  /** Null where QUEUE_URL is not set. */
  queue: QueueSettings | null;
}

/** Reads the environment. Throws ConfigError, naming what is wrong or missing. */
export function loadSettings(env: NodeJS.ProcessEnv): CliSettings {
  const settings = loadConfig(Settings, env);
  const { DATABASE_URL: databaseUrl, QUEUE_URL: url, QUEUE_NAMESPACE: namespace } = settings;
  return { databaseUrl, queue: url === undefined ? null : { target: parseQueueUrl(url), namespace } };
}

/** The same for commands that cannot do without a queue. */
export function loadSettingsWithQueue(env: NodeJS.ProcessEnv): CliSettings & { queue: QueueSettings } {
  const { databaseUrl, queue } = loadSettings(env);
  if (queue === null) throw new ConfigError(`QUEUE_URL is not set: ${QUEUE_URL.description}`);
  return { databaseUrl, queue };
}
