import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { ConnectionFailed, ConnectionLost } from './failures.ts';
import type { Schema } from '../schema/schema.ts';

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
  /** How long a statement may take before it is given up: first by Postgres, a little later from here. */
  statementTimeoutMs?: number;
  /** Told about errors on idle connections, which no query reports. */
  onIdleError?: (error: Error) => void;
}

const { INT8, NUMERIC } = pg.types.builtins;

// Serials stay below 2^53 (at a million a second that takes 285 years), prices below 10^10.
const types: pg.CustomTypesConfig = {
  getTypeParser: (
    oid: (typeof pg.types.builtins)[keyof typeof pg.types.builtins],
    format: 'text' | 'binary' = 'text',
  ) => (oid === INT8 || oid === NUMERIC ? Number : pg.types.getTypeParser(oid, format)),
};

/** Opens a pool. Connects when first used, so a server that is down is not an error yet. */
export function connect(options: ConnectOptions): Database {
  const { connectTimeoutMs = 2_000, statementTimeoutMs } = options;
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    application_name: options.applicationName,
    max: options.maxConnections,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    types,
    ...(statementTimeoutMs === undefined
      ? {}
      : { statement_timeout: statementTimeoutMs, query_timeout: statementTimeoutMs + 500 }),
  });
  pool.on('error', (error) => options.onIdleError?.(error));
  // An error that nobody listens to ends the process. The pool listens only while a connection is idle, and whoever has
  // taken it out hears of it too late: its first words and its last may arrive together.
  pool.on('connect', (client) => client.on('error', () => {}));
  return new Kysely<Schema>({
    dialect: new PostgresDialect({ pool: new HonestPool(pool, options.prepareStatements) }),
  });
}

/**
 * A pool that says what a failure means for the statement: never sent (ConnectionFailed), unknown
 * (ConnectionLost), or refused by the server (pg.DatabaseError, as it is). A connection that was lost,
 * whose statement timed out and may still be running, or that leads to a server that only reads, is closed
 * instead of being used again. And so are those that have not answered since one was lost: what ended it may have ended
 * them, and on a wire that forgets connections (half-open) each would take a timeout to find out.
 */
class HonestPool implements PostgresPool {
  readonly options: object;
  readonly #pool: pg.Pool;
  readonly #nameOf: (text: string) => string | undefined;
  readonly #answeredAt = new WeakMap<pg.PoolClient, number>();
  #lostAt = -Infinity;

  constructor(pool: pg.Pool, prepareStatements = false) {
    this.#pool = pool;
    pool.on('connect', (client) => this.noteAnswer(client));
    this.#nameOf = prepareStatements ? statementName : () => undefined;
    this.options = pool.options;
  }

  async connect(): Promise<PostgresPoolClient> {
    for (;;) {
      const client = await this.#pool.connect().catch((error: unknown) => {
        throw new ConnectionFailed(error);
      });
      if (this.#answeredAt.get(client)! > this.#lostAt) return new HonestClient(this, client, this.#nameOf);
      client.release(true);
    }
  }

  noteAnswer(client: pg.PoolClient): void {
    this.#answeredAt.set(client, performance.now());
  }

  noteLoss(): void {
    this.#lostAt = performance.now();
  }

  end(): Promise<void> {
    return this.#pool.end();
  }
}

/** The SQLSTATE of a standby, and of a primary that was demoted. */
const READ_ONLY = '25006';

class HonestClient implements PostgresPoolClient {
  readonly #pool: HonestPool;
  readonly #client: pg.PoolClient;
  readonly #nameOf: (text: string) => string | undefined;
  #isUnfit = false;

  constructor(pool: HonestPool, client: pg.PoolClient, nameOf: (text: string) => string | undefined) {
    this.#pool = pool;
    this.#client = client;
    this.#nameOf = nameOf;
  }

  query(text: string, parameters: readonly unknown[]): Promise<never>;
  query(cursor: unknown): never;
  // Kysely's second signature is for cursors, which nothing here uses.
  async query(statement: unknown, parameters: readonly unknown[] = []): Promise<unknown> {
    const text = statement as string;
    const name = this.#nameOf(text);
    const values = parameters as unknown[];
    try {
      const result = await this.#client.query({ ...(name && { name }), text, values });
      this.#pool.noteAnswer(this.#client);
      return result;
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || !(await this.#survived(error))) {
        this.#isUnfit = true;
        this.#pool.noteLoss();
        throw new ConnectionLost(error);
      }
      // After a failover the name of the server may lead to another one by now.
      if (error.code === READ_ONLY) this.#isUnfit = true;
      throw error;
    }
  }

  /**
   * Whether the session goes on after an error: then the statement was rolled back. An error that ends the session may
   * come after the commit. The severity tells them apart only where Postgres speaks English (lc_messages), and a SQLSTATE
   * may come with either (a full disk refuses a row, or stops Postgres in the middle of a commit).
   */
  async #survived({ code, severity }: pg.DatabaseError): Promise<boolean> {
    // A pooler in between may keep its connection to us when Postgres has ended the session behind it.
    if (!code || severity === 'FATAL' || severity === 'PANIC') return false;
    return this.#client.query('').then(
      () => true,
      () => false,
    );
  }

  release(destroy = false): void {
    this.#client.release(destroy || this.#isUnfit);
  }
}

const statementNames = new Map<string, string>();

/** The name under which a statement is prepared, the same on every connection. */
function statementName(text: string): string {
  const known = statementNames.get(text);
  if (known) return known;
  const name = `floodgate_${statementNames.size + 1}`;
  statementNames.set(text, name);
  return name;
}
