/** Migrated once; every test file's database is a copy of it. */
export const TEMPLATE_DATABASE = 'floodgate_test_template';

/** The same server, another database. */
export function withDatabase(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}
