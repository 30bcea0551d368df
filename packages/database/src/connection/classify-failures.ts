import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { ConnectionFailed, ConnectionLost } from './failures.ts';

/** The SQLSTATE of a standby, and of a primary that was demoted. */
const READ_ONLY = '25006';

/**
 * Returns the pool as one that says what a failure means for the statement: never sent (ConnectionFailed), unknown
 * (ConnectionLost), or refused by the server (pg.DatabaseError, as it is).
 *
 * A connection is closed instead of being used again when it was lost, when its statement timed out and may still be
 * running, or when its server only reads. Once a connection is lost, those that have not answered since are closed, too.
 * They probably have the same fault, and each half-open connection would cost a timeout.
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
    // An error without a listener ends the process. The pool listens only while a connection is idle. A listener that is added when a
    // connection is taken would be too late: the first error and the end of the connection can arrive together.
    client.on('error', () => {});
  });
  const classifyClient = (client: pg.PoolClient): PostgresPoolClient => {
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
        nameConstraint(error);
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
      if (answeredAt.get(client)! > lostAt) return classifyClient(client);
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

/**
 * A Citus cluster passes on an error of a server behind without its constraint. The message names it last, in every language.
 * Either may have the number of the table behind.
 */
function nameConstraint(error: pg.DatabaseError): void {
  if (!error.code?.startsWith('23')) return;
  const constraint = error.constraint ?? /.*"([^"]+)"/s.exec(error.message)?.[1];
  if (constraint !== undefined) error.constraint = constraint.replace(/_\d{6,}$/, '');
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
