import { queueSettings } from '@floodgate/queue';

/** Server of the tests' databases. */
export type Engine = 'postgres' | 'citus';

/** Prefixes of the tests' database names. They show which server a URL belongs to. */
export const DATABASE_PREFIX: Record<Engine, string> = {
  postgres: 'floodgate_test_',
  citus: 'floodgate_citus_test_',
};

/** Name of the template, which is migrated once. Each test file's database is a copy of it. */
export const templateOf = (engine: Engine) => `${DATABASE_PREFIX[engine]}template`;

/** Namespace of the queue in the template: the services' default. */
export const TEMPLATE_NAMESPACE = String(queueSettings.QUEUE_NAMESPACE.default);

/** Returns the URL of another database on the same server. */
export function withDatabase(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

/** Returns the server of a database, or null if it is not one of the tests'. */
export function engineOf(url = ''): Engine | null {
  const database = URL.parse(url)?.pathname.slice(1) ?? '';
  const engines = Object.keys(DATABASE_PREFIX) as Engine[];
  return engines.find((engine) => database.startsWith(DATABASE_PREFIX[engine])) ?? null;
}
