import type { Database } from '@floodgate/database';

// The servers that commands work on. Each is open only as long as the work takes.

/** Reads the environment. Rejects with ConfigError, naming what is wrong or missing. */
export const loadSettings = async (env: NodeJS.ProcessEnv, needsQueue = false) =>
  (await import('./read-settings.ts')).readSettings(env, needsQueue);

export type CliSettings = Awaited<ReturnType<typeof loadSettings>>;

/** Opens the database for `work` and closes it afterwards. `statementTimeoutMs` null: as long as it takes. */
export async function withDatabase<Result>(
  connectionString: string,
  statementTimeoutMs: number | null,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const { connect } = await import('@floodgate/database/connection/connect');
  const timeout = statementTimeoutMs === null ? {} : { statementTimeoutMs };
  const options = { connectionString, applicationName: 'floodgate-cli', maxConnections: 2 };
  await using db = connect({ ...options, ...timeout });
  return await work(db);
}
