import type { readSettings } from './read-settings.ts';

export type CliSettings = ReturnType<typeof readSettings>;
/** Where a queue is, and under which name. */
export type QueueSettings = NonNullable<CliSettings['queue']>;

/** Reads the environment. Rejects with ConfigError, naming what is wrong or missing. */
export async function loadSettings(env: NodeJS.ProcessEnv): Promise<CliSettings> {
  return (await import('./read-settings.ts')).readSettings(env);
}

/** The same for commands that cannot do without a queue. */
export async function loadSettingsWithQueue(env: NodeJS.ProcessEnv) {
  return (await import('./read-settings.ts')).readSettingsWithQueue(env);
}
