import type { QueueTarget } from '@floodgate/queue';

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

/** Reads the environment. Rejects with ConfigError, naming what is wrong or missing. */
export async function loadSettings(env: NodeJS.ProcessEnv): Promise<CliSettings> {
  return (await import('./read-settings.ts')).readSettings(env);
}

/** The same for commands that cannot do without a queue. */
export async function loadSettingsWithQueue(env: NodeJS.ProcessEnv) {
  return (await import('./read-settings.ts')).readSettingsWithQueue(env);
}
