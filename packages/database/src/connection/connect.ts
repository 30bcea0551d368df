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
   * Parse and plan each statement once per connection. Suits services, which have few statements. With
   * PgBouncer in transaction mode, version 1.21 or newer is required.
   */
  prepareStatements?: boolean;
  /** Limit of the wait for a connection, idle or new. */
  connectTimeoutMs?: number;
  /** Limit of a statement. Postgres cancels it first. The client stops waiting half a second later. */
  statementTimeoutMs?: number;
  /**
   * The service that owns this pool. Its log gets missing privileges, and lost idle connections, which no
   * query reports.
   */
  owner?: { service: ServiceName; log: Logger };
}

// Serials stay below 2^53 (at a million per second, for 285 years), prices below 10^10.
const types = new pg.TypeOverrides();
for (const oid of [pg.types.builtins.INT8, pg.types.builtins.NUMERIC]) types.setTypeParser(oid, Number);

/**
 * Settings that the code relies on, because a server, database or role can have other defaults: timestamps
 * that pg can parse, batches that wait for each other instead of failing, literal backslashes, and NULL in an
 * array literal as a null. They are a statement because PgBouncer rejects startup parameters that it does not
 * know.
 */
const SESSION = `set datestyle = iso; set default_transaction_isolation = 'read committed';
  set standard_conforming_strings = on; set array_nulls = on`;
/**
 * How long a pool keeps an idle connection. Longer than the pauses of periodic tasks: a new connection costs
 * more than many of their statements.
 */
const IDLE_MS = 60_000;
/**
 * No service pauses for 10 s inside a transaction: a process that is frozen there keeps its locks for so
 * long. A session that is idle for longer than its pool allows has lost its client. Without the limit, it
 * would count as a connection until TCP notices, after hours.
 */
const OF_SERVICE = `set idle_in_transaction_session_timeout = '10s'; set idle_session_timeout = ${IDLE_MS * 1.5}`;

/** Returns a pool. It connects on first use, so a server that is down is not an error here. */
export function connect(options: ConnectOptions) {
  const { connectTimeoutMs = 2_000, statementTimeoutMs, prepareStatements = false, owner } = options;
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    application_name: options.applicationName,
    max: options.maxConnections,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: IDLE_MS,
    keepAlive: true,
    types,
    // oxlint-disable-next-line typescript/no-misused-promises -- pg awaits it, although its types do not say so
    onConnect: (client) => client.query(owner ? `${SESSION}; ${OF_SERVICE}` : SESSION),
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs && statementTimeoutMs + 500,
  });
  pool.on('error', (err) => owner?.log.warn({ err }, 'an idle Postgres connection was lost'));
  const explain = owner && explainRefusals(owner.service, owner.log);
  const classifying = classifyFailures(pool, prepareStatements, (error) => explain?.(error, db));
  const db: Database = new Kysely({ dialect: new PostgresDialect({ pool: classifying }) });
  pools.set(db, pool);
  return db;
}

const pools = new WeakMap<Database, pg.Pool>();

/** Returns the number of busy and idle connections of a pool, and of calls that wait for one. */
export function connectionsOf(db: Database) {
  const { totalCount, idleCount, waitingCount } = pools.get(db)!;
  // A call that came in this tick gets an idle connection in the next one.
  const waiting = Math.max(0, waitingCount - idleCount);
  return { busy: totalCount - idleCount, idle: idleCount, waiting };
}

/**
 * Options that differ between the pools of a service. pg_stat_activity shows the purpose after the service's
 * name.
 */
export type PoolOptions = Omit<ConnectOptions, 'connectionString' | 'applicationName'> & { purpose?: string };

/** Returns a pool of a service. */
export function openServicePool(
  { connectionString, ...owner }: NonNullable<ConnectOptions['owner']> & { connectionString: string },
  { purpose = '', ...options }: PoolOptions,
) {
  const applicationName = `floodgate-${owner.service} ${purpose}`.trimEnd();
  return connect({ connectionString, applicationName, prepareStatements: true, owner, ...options });
}

type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;
type CamelTable<Table> = { [Column in keyof Table as Camel<Column>]: Table[Column] };

const camelCase = new CamelCasePlugin();

/** Returns the same database with the names of tables and columns in camel case: shardId for shard_id. */
export const inCamelCase = (db: Database) =>
  // Kysely's types do not change with a plugin that renames columns.
  db.withPlugin(camelCase) as unknown as Kysely<{
    [Name in keyof Schema as Camel<Name>]: CamelTable<Schema[Name]>;
  }>;

/** Runs `work` in a transaction: in `db` itself if it is one, otherwise in a new one. */
export const inTransaction = <Result>(db: Database, work: (transaction: Database) => Promise<Result>) =>
  db.isTransaction ? work(db) : db.transaction().execute(work);

/** Returns whether Postgres answers within the pool's timeouts. */
export async function ping(db: Database) {
  return sql`select 1`.execute(db).then(
    () => true,
    () => false,
  );
}

/**
 * Throws, with instructions, if a commit does not wait for Postgres's disk, or for its synchronous standbys:
 * a crash or a failover could then lose registrations that were answered "00". Every role can change this
 * setting for itself, so a leaked password is enough.
 */
export async function assertDurable(db: Database) {
  const { rows } = await sql<{ level: string; hasStandbys: boolean }>`
    select current_setting('synchronous_commit') as level,
      current_setting('synchronous_standby_names') <> '' as "hasStandbys"`.execute(db);
  const { level, hasStandbys } = rows[0]!;
  const danger = dangerOf(level, hasStandbys);
  if (danger === null) return;
  throw new Error(
    `synchronous_commit is ${level} for the user in DATABASE_URL: a ${danger} could lose registrations that were ` +
      'answered "00"; as the owner, see "select * from pg_db_role_setting" and run ' +
      '"alter role … reset synchronous_commit"',
  );
}

/** Returns what could lose commits; null: nothing. */
function dangerOf(level: string, hasStandbys: boolean) {
  if (level === 'off') return 'crash of Postgres';
  return hasStandbys && level === 'local' ? 'failover' : null;
}
