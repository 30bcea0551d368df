/** Returns BullMQ's schema for a namespace: the Postgres counterpart of a key prefix. */
export function postgresSchema(namespace: string): string {
  return `${namespace.replaceAll(/[^a-z0-9_]/gi, '_')}_queue`;
}
