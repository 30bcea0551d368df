import type { Logger } from '@floodgate/service/log';
import { assertGranted, explainRefusals } from '../roles/missing-privileges.ts';
import type { ServiceName } from '../roles/services.ts';
import { assertMigrated } from '../schema/migrate.ts';
import { connect, type ConnectOptions, type Database } from './connect.ts';

/** Options that differ between the pools of a service. The purpose is shown in pg_stat_activity behind the service's name. */
export type PoolOptions = Omit<ConnectOptions, 'connectionString' | 'applicationName'> & { purpose?: string };

/** Returns a pool of a service. It logs missing privileges of its role, and idle connections that are lost. */
export const openServicePool = (
  { service, connectionString, log }: { service: ServiceName; connectionString: string; log: Logger },
  { purpose = '', ...options }: PoolOptions,
): Database =>
  connect({
    connectionString,
    applicationName: `floodgate-${service} ${purpose}`.trimEnd(),
    prepareStatements: true,
    onIdleError: (err) => log.warn({ err }, 'an idle Postgres connection was lost'),
    onRefusal: explainRefusals(service, log),
    ...options,
  });

/** Throws, saying what to do, where a service's role lacks a privilege, or the schema is older than the code. */
export async function assertReady(db: Database, service: ServiceName): Promise<void> {
  await assertGranted(db, service);
  await assertMigrated(db);
}
