import { Kysely, PostgresDialect, sql, type PostgresPool, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import type { Schema } from '../schema/schema.ts';
import { ConnectionFailed, ConnectionLost } from './failures.ts';

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
  /** Told about errors on idle connections, which no query reports. */
  onIdleError?: (error: Error) => void;
  /** Told about every statement that Postgres refused: see explainRefusals. */
  onRefusal?: (error: pg.DatabaseError, db: Database) => void;
}

// Serials stay below 2^53 (at a million a second that takes 285 years), prices below 10^10.
const types = new pg.TypeOverrides();
for (const oid of [pg.types.builtins.INT8, pg.types.builtins.NUMERIC]) types.setTypeParser(oid, Number);

/**
 * What the code relies on, where a server, database or role has another default: timestamps that pg can read, batches that
 * wait for each other instead of failing, backslashes and NULLs that mean themselves. Statements and not startup
 * parameters: PgBouncer refuses those that it does not know.
 */
const SESSION = `set datestyle = iso; set default_transaction_isolation = 'read committed';
  set standard_conforming_strings = on; set array_nulls = on`;

/** The SQLSTATE of a standby, and of a primary that was demoted. */
const READ_ONLY = '25006';

/** Returns a pool. It connects when it is first used, so a server that is down is not an error yet. */
export function connect(options: ConnectOptions): Database {
  const { connectTimeoutMs = 2_000, statementTimeoutMs, prepareStatements = false, onRefusal } = options;
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
  pool.on('error', (error) => options.onIdleError?.(error));
  const classifying = classifyFailures(pool, prepareStatements, (error) => onRefusal?.(error, db));
  const db: Database = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: classifying }) });
  return db;
}

/**
 * Returns the pool as one that says what a failure means for the statement: never sent (ConnectionFailed), unknown
 * (ConnectionLost), or refused by the server (pg.DatabaseError, as it is).
 *
 * A connection is closed instead of being used again when it was lost, when its statement timed out and may still be
 * running, or when its server only reads. Once a connection is lost, those that have not answered since are closed, too.
 * What ended it may have ended them, and on a wire that forgets connections (half-open) each would take a timeout to find
 * out.
 */
function classifyFailures(
  pool: pg.Pool,
  prepareStatements: boolean,
  onRefusal: (error: pg.DatabaseError) => void,
): PostgresPool {
  const answeredAt = new WeakMap<pg.PoolClient, number>();
  let lostAt = -Infinity;
  pool.on('connect', (client) => {
    answeredAt.set(client, performance.now());
    // An error that nobody listens to ends the process. The pool listens only while a connection is idle. Whoever has
    // taken it out listens too late: the first error and the end of the connection may arrive together.
    client.on('error', () => {});
  });
  const classifying = (client: pg.PoolClient): PostgresPoolClient => {
    let isUnfit = false;
    const query = async (text: string, values: unknown[] = []) => {
      const name = prepareStatements ? statementName(text) : undefined;
      try {
        const result = await client.query({ ...(name && { name }), text, values });
        answeredAt.set(client, performance.now());
        return result;
      } catch (error) {
        if (!(error instanceof pg.DatabaseError) || !(await survives(client, error))) {
          isUnfit = true;
          lostAt = performance.now();
          throw new ConnectionLost(error);
        }
        // After a failover the name of the server may lead to another one by now.
        if (error.code === READ_ONLY) isUnfit = true;
        onRefusal(error);
        throw error;
      }
    };
    return {
      // Kysely's second signature is for cursors, which nothing here uses.
      query: query as unknown as PostgresPoolClient['query'],
      release: (destroy = false) => client.release(destroy || isUnfit),
    };
  };
  const take = async () => {
    for (;;) {
      const client = await pool.connect().catch((error: unknown) => {
        throw new ConnectionFailed(error);
      });
      if (answeredAt.get(client)! > lostAt) return classifying(client);
      client.release(true);
    }
  };
  return { options: pool.options, connect: take, end: () => pool.end() };
}

/**
 * Returns whether the session goes on after an error: then the statement was rolled back. An error that ends the session
 * may come after the commit. The severity tells them apart only where Postgres speaks English (lc_messages). A SQLSTATE
 * may come with either: a full disk refuses a row, or stops Postgres in the middle of a commit.
 */
async function survives(client: pg.PoolClient, { code, severity }: pg.DatabaseError): Promise<boolean> {
  // A pooler in between may keep its connection to us when Postgres has ended the session behind it.
  if (!code || severity === 'FATAL' || severity === 'PANIC') return false;
  return client.query('').then(
    () => true,
    () => false,
  );
}

const statementNames = new Map<string, string>();

/** Returns the name under which a statement is prepared, the same on every connection. */
function statementName(text: string): string {
  const known = statementNames.get(text);
  if (known) return known;
  const name = `floodgate_${statementNames.size + 1}`;
  statementNames.set(text, name);
  return name;
}

/** Returns whether Postgres answers. Bounded by the pool's own timeouts. */
export async function ping(db: Database): Promise<boolean> {
  return sql`select 1`.execute(db).then(
    () => true,
    () => false,
  );
}

/**
 * Throws, saying what to do, where a commit does not wait for Postgres's disk: a crash could take back what was answered
 * "00". Every role may set that for itself: whoever once had its password may have done so.
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
