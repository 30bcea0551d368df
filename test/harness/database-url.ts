import { queueSettings } from '@floodgate/queue';

/** Migrated once; every test file's database is a copy of it. */
export const TEMPLATE_DATABASE = 'floodgate_test_template';

/** The queue in it is the one of services that are given no other. */
export const TEMPLATE_NAMESPACE = String(queueSettings.QUEUE_NAMESPACE.default);

/** The same server, another database. */
export function withDatabase(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}
