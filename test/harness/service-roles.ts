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

/** A busy machine may need longer for an answer than the default. A test would see code 90 where nothing is wrong. */
const UNHURRIED = { ANSWER_WITHIN_MS: '20000', READ_WITHIN_MS: '20000' };

/** Prefix of the tests' roles. */
const PREFIX = 'floodgate_test_';

/** Returns a service's role on the tests' server. */
export const roleOf = (service: ServiceName) => `${PREFIX}${service}`;

/** Creates the services' login roles on the tests' server, with the owner's password. */
export async function createServiceRoles(server: Database, serverUrl: string): Promise<void> {
  const password = decodeURIComponent(new URL(serverUrl).password);
  for (const service of SERVICES) await ensureLoginRole(server, roleOf(service), password);
}

/** Grants the roles their privileges in a database, as `floodgate grant` does. */
export async function grantServiceRoles(db: Database): Promise<void> {
  for (const service of SERVICES) {
    const outcome = await grantPrivileges(db, service, roleOf(service));
    if (outcome !== 'granted') throw new Error(`${roleOf(service)}: ${outcome}`);
  }
}

/** Grants the roles their privileges on a queue in Postgres. */
export async function grantQueueToServiceRoles(queueUrl: string, namespace: string): Promise<void> {
  for (const service of SERVICES)
    await grantQueue(parseQueueUrl(queueUrl), roleOf(service), namespace, usesQueue(service));
}

/**
 * Returns the environment of a tested service: it connects with its own role in place of the owner, logs at
 * every level, and an API has time to answer on a busy machine. The environment of other databases, such as a
 * benchmark's, is unchanged.
 */
export function underTest(service: ServiceName, env: Record<string, string>): Record<string, string> {
  if (!engineOf(env['DATABASE_URL'])) return env;
  const urls = Object.entries(env)
    .filter(([name, url]) => name.endsWith('_URL') && engineOf(url))
    .map(([name, url]) => [name, withRole(roleOf(service), url)] as const);
  return { LOG_LEVEL: 'trace', ...(service === 'api' && UNHURRIED), ...env, ...Object.fromEntries(urls) };
}

/** Returns the URL with a service's role. Keeps the role of a test whose name has the same prefix. */
export function withRole(role: string, text: string): string {
  const url = new URL(text);
  if (!url.username.startsWith(PREFIX)) url.username = role;
  return url.href;
}
