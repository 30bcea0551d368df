import { connect, migrate, type Database } from '@floodgate/database';
import { migrateQueue, parseQueueUrl } from '@floodgate/queue';
import { ensureDemo, type Demo } from './demo.ts';
import { firstLine, StandaloneError } from './standalone-error.ts';

export interface Preparation {
  databaseUrl: string;
  queueUrl: string;
  queueNamespace: string;
  demoFile: string;
  baseUrl: string;
}

/** Brings database and queue up to date and answers the demo's data. Throws StandaloneError. */
export async function prepareDatabase(preparation: Preparation): Promise<Demo> {
  const { databaseUrl, queueUrl, queueNamespace, demoFile, baseUrl } = preparation;
  const db = await attempt('DATABASE_URL', async () => open(databaseUrl));
  try {
    await attempt('DATABASE_URL', () => migrate(db));
    await attempt('QUEUE_URL', () => migrateQueue(parseQueueUrl(queueUrl), queueNamespace));
    return await ensureDemo(db, demoFile, baseUrl);
  } finally {
    await db.destroy();
  }
}

function open(connectionString: string): Database {
  return connect({
    connectionString,
    applicationName: 'floodgate-standalone',
    maxConnections: 2,
    connectTimeoutMs: 5_000,
  });
}

async function attempt<T>(variable: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw new StandaloneError(`the server of ${variable} cannot be used: ${innermost(error)}`, {
      cause: error,
    });
  }
}

/** The reason below "cannot connect to Postgres". */
function innermost(error: unknown): string {
  return error instanceof Error && error.cause ? innermost(error.cause) : firstLine(error);
}
