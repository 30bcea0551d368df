import { CamelCasePlugin, Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import type { Logger } from '@floodgate/service/log';
import { explainRefusals } from '../roles/missing-privileges.ts';
import type { ServiceName } from '../roles/services.ts';
import type { Schema } from '../schema/schema.ts';
import { classifyFailures } from './classify-failures.ts';

export type Database = Kysely<Schema>;

export interface ConnectOptions {
  connectionString: string;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  maxConnections: number;
  /**
   * Parse and plan each statement once per connection. Right for services, whose statements are few; needs
   * PgBouncer 1.21 or newer where it pools transactions.
   */
  prepareStatements?: boolean;
  /** How long to wait for a connection, free or new. */
  connectTimeoutMs?: number;
  /** How long a statement may take. Postgres gives it up first, the client half a second later. */
  statementTimeoutMs?: number;
  /** The service of this pool. Its log gets missing privileges, and idle connections that are lost, which no query reports. */
  owner?: { service: ServiceName; log: Logger };
}

// Serials stay below 2^53 (at a million a second that takes 285 years), prices below 10^10.
const types = new pg.TypeOverrides();
for (const oid of [pg.types.builtins.INT8, pg.types.builtins.NUMERIC]) types.setTypeParser(oid, Number);

/**
 * Settings that the code relies on, because a server, database or role may have other defaults: timestamps that pg can read, batches that
 * wait for each other instead of failing, backslashes and NULLs that mean themselves. Statements and not startup
 * parameters: PgBouncer refuses those that it does not know.
 */
const SESSION = `set datestyle = iso; set default_transaction_isolation = 'read committed';
  set standard_conforming_strings = on; set array_nulls = on`;

/** Returns a pool. It connects when it is first used, so a server that is down is not an error yet. */
export function connect(options: ConnectOptions): Database {
  const { connectTimeoutMs = 2_000, statementTimeoutMs, prepareStatements = false, owner } = options;
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    application_name: options.applicationName,
    max: options.maxConnections,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    types,
    // oxlint-disable-next-line typescript/no-misused-promises -- pg waits for it, whatever its types say
    onConnect: (client) => client.query(SESSION),
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs && statementTimeoutMs + 500,
  });
  pool.on('error', (err) => owner?.log.warn({ err }, 'an idle Postgres connection was lost'));
  const explain = owner && explainRefusals(owner.service, owner.log);
  const classifying = classifyFailures(pool, prepareStatements, (error) => explain?.(error, db));
  const db: Database = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: classifying }) });
  return db;
}

/** Options that differ between the pools of a service. The purpose is shown in pg_stat_activity behind the service's name. */
export type PoolOptions = Omit<ConnectOptions, 'connectionString' | 'applicationName'> & { purpose?: string };

/** Returns a pool of a service. */
export function openServicePool(
  { connectionString, ...owner }: NonNullable<ConnectOptions['owner']> & { connectionString: string },
  { purpose = '', ...options }: PoolOptions,
): Database {
  const applicationName = `floodgate-${owner.service} ${purpose}`.trimEnd();
  return connect({ connectionString, applicationName, prepareStatements: true, owner, ...options });
}

type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;
type CamelTable<Table> = { [Column in keyof Table as Camel<Column>]: Table[Column] };

const camelCase = new CamelCasePlugin();

/** Returns the same database with the names of tables and columns in camel case: shardId for shard_id. */
export const inCamelCase = (db: Database) =>
  db.withPlugin(camelCase) as unknown as Kysely<{
    [Name in keyof Schema as Camel<Name>]: CamelTable<Schema[Name]>;
  }>;

/** Returns whether Postgres answers. Bounded by the pool's own timeouts. */
export async function ping(db: Database): Promise<boolean> {
  return sql`select 1`.execute(db).then(
    () => true,
    () => false,
  );
}

/**
 * Throws, saying what to do, where a commit does not wait for Postgres's disk: a crash could take back what was answered
 * "00". Every role can set that for itself, so a leaked password is enough.
 */
export async function assertDurable(db: Database): Promise<void> {
  const { rows } = await sql<{ isOff: boolean }>`
    select current_setting('synchronous_commit') = 'off' as "isOff"`.execute(db);
  if (!rows[0]!.isOff) return;
  throw new Error(
    'for the user in DATABASE_URL synchronous_commit is off: a crash of Postgres could take back what was answered "00"; ' +
      'as its owner, see "select * from pg_db_role_setting" and run "alter role … reset synchronous_commit"',
  );
}
