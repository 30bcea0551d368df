import { connect, migrate, type Database, type ServiceName } from '@floodgate/database';
import { migrateQueue, parseQueueUrl } from '@floodgate/queue';
import { ensureDemo, type Demo } from './demo.ts';
import { openServiceRoles, type Connection, type ServiceUrls } from './service-roles.ts';
import { firstLine, StandaloneError } from './standalone-error.ts';

export interface Preparation {
  connection: Connection;
  demoFile: string;
  baseUrl: string;
  /** Whether the server is ours, so that users can be made on it. */
  isOwnServer: boolean;
}

/** The demo's data, and where each service finds database and queue. */
export interface Prepared {
  demo: Demo;
  urls: Record<ServiceName, ServiceUrls>;
}

/** Brings database and queue up to date. Throws StandaloneError. */
export async function prepareDatabase(preparation: Preparation): Promise<Prepared> {
  const { connection, demoFile, baseUrl, isOwnServer } = preparation;
  const { DATABASE_URL, QUEUE_URL, QUEUE_NAMESPACE } = connection;
  await using db = await attempt('DATABASE_URL', async () => open(DATABASE_URL));
  await attempt('DATABASE_URL', () => migrate(db));
  await attempt('QUEUE_URL', () => migrateQueue(parseQueueUrl(QUEUE_URL), QUEUE_NAMESPACE));
  const owner = { DATABASE_URL, QUEUE_URL };
  const urls = isOwnServer ? await openServiceRoles(db, connection) : { api: owner, worker: owner };
  return { demo: await ensureDemo(db, demoFile, baseUrl), urls };
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
