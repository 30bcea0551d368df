import { randomBytes } from 'node:crypto';
import {
  connect,
  ensureLoginRole,
  grantPrivileges,
  migrate,
  usesQueue,
  type Database,
  type ServiceName,
} from '@floodgate/database';
import { Failure } from '@floodgate/service';
import { grantQueue, migrateQueue, parseQueueUrl } from '@floodgate/queue';
import { ensureDemo } from './demo.ts';
import { firstLine } from './failures.ts';

/** Where database and queue are, as a service reads it from its environment. */
type Connection = Record<'DATABASE_URL' | 'QUEUE_URL' | 'QUEUE_NAMESPACE', string>;

interface Preparation {
  /** Of the owner of both. */
  connection: Connection;
  demoFile: string;
  baseUrl: string;
  /** Whether the server is ours, so that users can be made on it. */
  isOwnServer: boolean;
}

/** Brings database and queue up to date. Returns the demo's data, and where each service finds both. Throws Failure. */
export async function prepareDatabase({ connection, demoFile, baseUrl, isOwnServer }: Preparation) {
  const { DATABASE_URL, QUEUE_URL, QUEUE_NAMESPACE } = connection;
  await using db = connect({
    connectionString: DATABASE_URL,
    applicationName: 'floodgate-standalone',
    maxConnections: 2,
    connectTimeoutMs: 5_000,
  });
  await attempt('DATABASE_URL', () => migrate(db));
  await attempt('QUEUE_URL', () => migrateQueue(parseQueueUrl(QUEUE_URL), QUEUE_NAMESPACE));
  const connectionOf = (service: ServiceName) =>
    isOwnServer ? openServiceRole(db, connection, service) : connection;
  const connections = {
    api: await connectionOf('api'),
    worker: await connectionOf('worker'),
    delivery: await connectionOf('delivery'),
  };
  return { demo: await ensureDemo(db, demoFile, baseUrl), connections };
}

// A database user of its own on our own server, with a password that is new at every start.
async function openServiceRole(db: Database, owner: Connection, service: ServiceName): Promise<Connection> {
  const role = `floodgate_${service}`;
  const password = randomBytes(24).toString('hex');
  await ensureLoginRole(db, role, password);
  const outcome = await grantPrivileges(db, service, role);
  if (outcome !== 'granted') throw new Failure(`the database user ${role} cannot be used: ${outcome}`);
  const DATABASE_URL = Object.assign(new URL(owner.DATABASE_URL), { username: role, password }).href;
  if (owner.QUEUE_URL !== owner.DATABASE_URL) return { ...owner, DATABASE_URL };
  await grantQueue(parseQueueUrl(owner.QUEUE_URL), role, owner.QUEUE_NAMESPACE, usesQueue(service));
  return { ...owner, DATABASE_URL, QUEUE_URL: DATABASE_URL };
}

async function attempt<T>(variable: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (cause) {
    throw new Failure(`the server of ${variable} cannot be used: ${innermost(cause)}`, { cause });
  }
}

/** The reason below "cannot connect to Postgres". */
function innermost(error: unknown): string {
  return error instanceof Error && error.cause ? innermost(error.cause) : firstLine(error);
}
