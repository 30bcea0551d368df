import type { Logger } from '@floodgate/service/log';
import { assertGranted, explainRefusals } from '../roles/missing-privileges.ts';
import type { ServiceName } from '../roles/services.ts';
import { assertMigrated } from '../schema/migrate.ts';
import { connect, type ConnectOptions, type Database } from './connect.ts';

/** Who connects. */
export interface ConnectingService {
  service: ServiceName;
  connectionString: string;
  log: Logger;
}

/** What differs between the pools of a service. */
export interface PoolOptions extends Pick<
  ConnectOptions,
  'maxConnections' | 'connectTimeoutMs' | 'statementTimeoutMs'
> {
  /** Shown in pg_stat_activity behind the name of the service. */
  purpose?: string;
}

/** Returns a pool of a service. What its role lacks, and connections that are lost while they are idle, are logged. */
export const openServicePool = (
  { service, connectionString, log }: ConnectingService,
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

/** Returns the one pool of a service. Throws as assertReady does, and has no connection then. */
export async function connectService(of: ConnectingService, options: PoolOptions): Promise<Database> {
  const db = openServicePool(of, options);
  try {
    await assertReady(db, of.service);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return db;
}
