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

/**
 * Gives each service a database user of its own on our own server, with a password that is new at every start and what
 * it needs and nothing else.
 */
export async function openServiceRoles(
  db: Database,
  owners: ServiceUrls,
  queueNamespace: string,
): Promise<Record<ServiceName, ServiceUrls>> {
  const open = async (service: ServiceName): Promise<[ServiceName, ServiceUrls]> => {
    const role = `floodgate_${service}`;
    const password = randomBytes(24).toString('hex');
    await ensureLoginRole(db, role, password);
    const outcome = await grantPrivileges(db, service, role);
    if (outcome !== 'granted')
      throw new StandaloneError(`the database user ${role} cannot be used: ${outcome}`);
    const DATABASE_URL = Object.assign(new URL(owners.DATABASE_URL), { username: role, password }).href;
    const isOwn = owners.QUEUE_URL === owners.DATABASE_URL;
    if (isOwn) await grantQueue(parseQueueUrl(owners.QUEUE_URL), role, queueNamespace);
    return [service, { DATABASE_URL, QUEUE_URL: isOwn ? DATABASE_URL : owners.QUEUE_URL }];
  };
  const opened: [ServiceName, ServiceUrls][] = [];
  for (const service of SERVICES) opened.push(await open(service));
  return Object.fromEntries(opened) as Record<ServiceName, ServiceUrls>;
}
