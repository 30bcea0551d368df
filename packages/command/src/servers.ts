import type { Database } from '@floodgate/database';
import type { Producer } from '@floodgate/queue';
import { withDeadline } from '@floodgate/service/deadline';

// The servers that commands work on. Each is open only as long as the work takes.

const CLOSE_DEADLINE_MS = 500;

/** Reads the environment. Rejects with ConfigError, naming what is wrong or missing. */
export const loadSettings = async (env: NodeJS.ProcessEnv) =>
  (await import('./read-settings.ts')).readSettings(env);

/** The same for commands that cannot do without a queue. */
export const loadSettingsWithQueue = async (env: NodeJS.ProcessEnv) =>
  (await import('./read-settings.ts')).readSettingsWithQueue(env);

export type CliSettings = Awaited<ReturnType<typeof loadSettings>>;
/** Where a queue is, and under which name. */
export type QueueSettings = NonNullable<CliSettings['queue']>;

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

/**
 * Opens the queue for `work` and closes it afterwards. Gives up after `deadlineMs`: a queue that takes
 * connections and never answers must not hang a command. Rejects with why the queue is down, if it is.
 */
export async function withQueue<Result>(
  settings: QueueSettings,
  deadlineMs: number,
  work: (queue: Producer) => Promise<Result>,
): Promise<Result> {
  let connectionError: Error | undefined;
  const onError = (error: Error) => (connectionError = error);
  const { Producer } = await import('@floodgate/queue');
  const queue = new Producer({ ...settings, onError });
  try {
    return await withDeadline(work(queue), deadlineMs, () => {
      throw new Error('no answer');
    });
  } catch (error) {
    // What the connection met says more than "no answer".
    throw connectionError ?? error;
  } finally {
    await withDeadline(queue.close(), CLOSE_DEADLINE_MS, () => undefined).catch(() => undefined);
  }
}
