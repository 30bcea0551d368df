import {
  ensureLoginRole,
  grantPrivileges,
  SERVICES,
  usesQueue,
  type Database,
  type ServiceName,
} from '@floodgate/database';
import { grantQueue, parseQueueUrl } from '@floodgate/queue';
import { engineOf } from './database-url.ts';

/** How the names of the tests' roles begin. */
const PREFIX = 'floodgate_test_';

/** The role that a service has on the server of the tests. */
export const roleOf = (service: ServiceName) => `${PREFIX}${service}`;

/** Makes the login roles of the services on the tests' server, once. They have the owner's password. */
export async function createServiceRoles(server: Database, serverUrl: string): Promise<void> {
  const password = decodeURIComponent(new URL(serverUrl).password);
  for (const service of SERVICES) await ensureLoginRole(server, roleOf(service), password);
}

/** Gives the roles what `floodgate grant` gives them in a database. */
export async function grantServiceRoles(db: Database): Promise<void> {
  for (const service of SERVICES) {
    const outcome = await grantPrivileges(db, service, roleOf(service));
    if (outcome !== 'granted') throw new Error(`${roleOf(service)}: ${outcome}`);
  }
}

/** The same for a queue, where that is in Postgres. */
export async function grantQueueToServiceRoles(queueUrl: string, namespace: string): Promise<void> {
  for (const service of SERVICES)
    await grantQueue(parseQueueUrl(queueUrl), roleOf(service), namespace, usesQueue(service));
}

/**
 * The environment of a service that is tested: it connects with its own role in place of the owner, and logs all it can.
 * Where the database is none of the tests' (a benchmark's, say), everything stays as it is.
 */
export function underTest(service: ServiceName, env: Record<string, string>): Record<string, string> {
  if (!engineOf(env['DATABASE_URL'])) return env;
  const urls = Object.entries(env)
    .filter(([name, url]) => name.endsWith('_URL') && engineOf(url))
    .map(([name, url]) => [name, withRole(roleOf(service), url)] as const);
  return { LOG_LEVEL: 'trace', ...env, ...Object.fromEntries(urls) };
}

/** The same URL for a service's own role. A test may have chosen a role of its own, whose name begins like these. */
export function withRole(role: string, text: string): string {
  const url = new URL(text);
  if (!url.username.startsWith(PREFIX)) url.username = role;
  return url.href;
}
