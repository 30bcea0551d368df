import { randomBytes } from 'node:crypto';
import { ensureLoginRole, grantPrivileges, migrate, SERVICES, usesQueue } from '@floodgate/database';
import type { Database, ServiceName } from '@floodgate/database';
import { Failure, reasonOf } from '@floodgate/service';
import { grantQueue, migrateQueue, parseQueueUrl } from '@floodgate/queue';

/** Variables with the URLs of database and queue, for their owner or for a service. */
type Connection = Record<'DATABASE_URL' | 'QUEUE_URL' | 'QUEUE_NAMESPACE', string>;

/**
 * Migrates database and queue. Returns the connection variables of each service. On our own server each
 * service has its own user. Throws Failure.
 */
export async function prepareDatabase(db: Database, connection: Connection, isOwnServer: boolean) {
  const { QUEUE_URL, QUEUE_NAMESPACE } = connection;
  await migrate(db).catch(cannotUse('DATABASE_URL'));
  await migrateQueue(parseQueueUrl(QUEUE_URL), QUEUE_NAMESPACE).catch(cannotUse('QUEUE_URL'));
  const connections = { api: connection, worker: connection, delivery: connection, console: connection };
  if (isOwnServer)
    for (const service of SERVICES) connections[service] = await openServiceRole(db, connection, service);
  return connections;
}

// Prepares the service's user on our own server, with a new password at every start.
async function openServiceRole(db: Database, owner: Connection, service: ServiceName) {
  const role = `floodgate_${service}`;
  const password = randomBytes(24).toString('hex');
  await ensureLoginRole(db, role, password);
  await grantPrivileges(db, service, role);
  const DATABASE_URL = Object.assign(new URL(owner.DATABASE_URL), { username: role, password }).href;
  if (owner.QUEUE_URL !== owner.DATABASE_URL) return { ...owner, DATABASE_URL };
  await grantQueue(parseQueueUrl(owner.QUEUE_URL), role, owner.QUEUE_NAMESPACE, usesQueue(service));
  return { ...owner, DATABASE_URL, QUEUE_URL: DATABASE_URL };
}

const cannotUse = (variable: string) => (cause: Error) => {
  // The cause of "cannot connect to Postgres" has the reason.
  throw new Failure(`the server of ${variable} cannot be used: ${reasonOf(cause.cause ?? cause)}`, { cause });
};
