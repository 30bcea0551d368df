import { randomBytes } from 'node:crypto';
import {
  ensureLoginRole,
  grantPrivileges,
  SERVICES,
  type Database,
  type ServiceName,
} from '@floodgate/database';
import { grantQueue, parseQueueUrl } from '@floodgate/queue';
import { StandaloneError } from './standalone-error.ts';

/** Where a service finds its database and its queue. */
export interface ServiceUrls {
  DATABASE_URL: string;
  QUEUE_URL: string;
}

/** The same of their owner, and what the queue is called. */
export interface Connection extends ServiceUrls {
  QUEUE_NAMESPACE: string;
}

/**
 * Gives each service a database user of its own on our own server, with a password that is new at every start and what
 * it needs and nothing else. Throws StandaloneError.
 */
export async function openServiceRoles(
  db: Database,
  owner: Connection,
): Promise<Record<ServiceName, ServiceUrls>> {
  const opened: [ServiceName, ServiceUrls][] = [];
  for (const service of SERVICES) opened.push([service, await openRole(db, owner, service)]);
  return Object.fromEntries(opened) as Record<ServiceName, ServiceUrls>;
}

async function openRole(db: Database, owner: Connection, service: ServiceName): Promise<ServiceUrls> {
  const role = `floodgate_${service}`;
  const password = randomBytes(24).toString('hex');
  await ensureLoginRole(db, role, password);
  const outcome = await grantPrivileges(db, service, role);
  if (outcome !== 'granted')
    throw new StandaloneError(`the database user ${role} cannot be used: ${outcome}`);
  const DATABASE_URL = Object.assign(new URL(owner.DATABASE_URL), { username: role, password }).href;
  if (owner.QUEUE_URL !== owner.DATABASE_URL) return { DATABASE_URL, QUEUE_URL: owner.QUEUE_URL };
  await grantQueue(parseQueueUrl(owner.QUEUE_URL), role, owner.QUEUE_NAMESPACE);
  return { DATABASE_URL, QUEUE_URL: DATABASE_URL };
}
