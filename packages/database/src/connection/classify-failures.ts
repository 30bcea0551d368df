import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { ConnectionFailed, ConnectionLost } from './failures.ts';

/** SQLSTATE of a write on a standby, or on a primary that was demoted. */
const READ_ONLY = '25006';

/**
 * Wraps a pool so that each failure says what happened to the statement: it was not sent (ConnectionFailed),
 * its outcome is unknown (ConnectionLost), or the server rejected it (pg.DatabaseError, unchanged).
 *
 * A connection is closed instead of reused if it was lost, if its statement timed out and may still be
 * running, or if its server is read-only. After a connection is lost or its server is read-only, connections
 * that have not answered since are closed, too. They probably have the same fault. Each half-open connection
 * would cost a timeout, and a read from an old server would not fail.
 */
export function classifyFailures(
  pool: pg.Pool,
  prepareStatements: boolean,
  onRefusal: (error: pg.DatabaseError) => void,
): PostgresPool {
  const answeredAt = new WeakMap<pg.PoolClient, number>();
  let lostAt = -Infinity;
  pool.on('connect', (client) => {
    answeredAt.set(client, performance.now());
    // An error without a listener ends the process. The pool listens only while a connection is idle. A
    // listener added when a connection is acquired would be too late: the first error and the end of the
    // connection can arrive together.
    client.on('error', () => {});
  });
  const classifyClient = (client: pg.PoolClient) => {
    let isUnfit = false;
    const query = async (text: string, values: unknown[] = []) => {
      const name = prepareStatements ? statementName(text) : undefined;
      try {
        const result = await client.query({ ...(name && { name }), text, values });
        answeredAt.set(client, performance.now());
        return result;
      } catch (error) {
        const refusal = error instanceof pg.DatabaseError && (await survives(client, error)) && error;
        // After a failover, the server's name may resolve to another server.
        if (!refusal || refusal.code === READ_ONLY) {
          isUnfit = true;
          lostAt = performance.now();
        }
        if (!refusal) throw new ConnectionLost(error);
        nameConstraint(refusal);
        onRefusal(refusal);
        throw refusal;
      }
    };
    return {
      // Kysely's second signature is for cursors, which this code does not use.
      query: query as unknown as PostgresPoolClient['query'],
      release: (destroy = false) => client.release(destroy || isUnfit),
    };
  };
  const take = async () => {
    for (;;) {
      const client = await pool.connect().catch((error: unknown) => {
        throw new ConnectionFailed(error);
      });
      if (answeredAt.get(client)! > lostAt) return classifyClient(client);
      client.release(true);
    }
  };
  return { options: pool.options, connect: take, end: () => pool.end() };
}

/**
 * Returns whether the session continues after an error. If it does, the statement was rolled back. An error
 * that ends the session can come after the commit. The severity distinguishes the two only if Postgres's
 * messages are in English (lc_messages). A SQLSTATE does not: a full disk can reject a row, or stop Postgres
 * in the middle of a commit.
 */
async function survives(client: pg.PoolClient, { code, severity }: pg.DatabaseError) {
  // A pooler can keep its connection to this client after Postgres has ended the session behind it.
  if (!code || severity === 'FATAL' || severity === 'PANIC') return false;
  return client.query('').then(
    () => true,
    () => false,
  );
}

/**
 * Sets the constraint of an error. Citus forwards an error of another node without it, but the message names
 * the constraint last, in every language. In both, Citus may have appended the number of its shard.
 */
function nameConstraint(error: pg.DatabaseError) {
  if (!error.code?.startsWith('23')) return;
  const constraint = error.constraint ?? /.*"([^"]+)"/s.exec(error.message)?.[1];
  if (constraint !== undefined) error.constraint = constraint.replace(/_\d{6,}$/, '');
}

const statementNames = new Map<string, string>();

/** Returns the name of a prepared statement, the same on every connection. */
function statementName(text: string) {
  return statementNames.getOrInsertComputed(text, () => `floodgate_${statementNames.size + 1}`);
}
