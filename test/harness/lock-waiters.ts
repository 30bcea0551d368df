import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import { inject } from 'vitest';
import { waitUntil } from './wait-until.ts';

const WAITING = `from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

/** Resolves when exactly this number of statements wait for a lock in this database, on all its servers together. */
export async function waitForLockWaiters(db: Database, count: number): Promise<void> {
  await waitUntil(`${count} statements wait for a lock`, async () => (await countLockWaiters(db)) === count);
}

export const countLockWaiters = (db: Database) => sumOverServers(db, `select count(*) ${WAITING}`);

/** Ends the connections of statements that wait for a lock: Postgres does not notice that their client is gone. */
export async function endLockWaiters(db: Database): Promise<void> {
  await sumOverServers(db, `select count(pg_terminate_backend(pid)) ${WAITING}`);
}

/** Resolves when Postgres has ended the connections of processes of this name. A statement of a killed process can still commit until then. */
export async function waitForEndOfConnections(db: Database, applicationName: string): Promise<void> {
  await waitUntil(`${applicationName} has no connections`, async () => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and application_name like ${`${applicationName}%`}`.execute(
      db,
    );
    return rows.length === 0;
  });
}

/** Returns the sum of a query's number over all servers of the database. */
export async function sumOverServers(db: Database, query: string): Promise<number> {
  const numbers =
    inject('engine') === 'citus'
      ? sql`select result::bigint as number from run_command_on_all_nodes(${query})`
      : sql`select (${sql.raw(query)}) as number`;
  const { rows } = await sql<{ sum: number }>`select sum(number)::bigint from (${numbers}) _`.execute(db);
  return rows[0]!.sum;
}
