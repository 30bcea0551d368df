import { queueSettings } from '@floodgate/queue';

/** What the tests' databases live on. */
export type Engine = 'postgres' | 'citus';

/** How the names of the tests' databases begin. Who is given the URL of one knows by it where that is. */
export const DATABASE_PREFIX: Record<Engine, string> = {
  postgres: 'floodgate_test_',
  citus: 'floodgate_citus_test_',
};

/** Migrated once; every test file's database is a copy of it. */
export const templateOf = (engine: Engine) => `${DATABASE_PREFIX[engine]}template`;

/** The queue in it is the one of services that are given no other. */
export const TEMPLATE_NAMESPACE = String(queueSettings.QUEUE_NAMESPACE.default);

/** The same server, another database. */
export function withDatabase(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

/** What this database lives on; null where it is none of the tests'. */
export function engineOf(url = ''): Engine | null {
  const database = URL.parse(url)?.pathname.slice(1) ?? '';
  const engines = Object.keys(DATABASE_PREFIX) as Engine[];
  return engines.find((engine) => database.startsWith(DATABASE_PREFIX[engine])) ?? null;
}
