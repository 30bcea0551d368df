import { type Database } from '@floodgate/database';
import { sql } from 'kysely';
import { connectInTest } from './connect-in-test.ts';
import { withDatabase } from './database-url.ts';
import { waitUntil } from './wait-until.ts';

const IN_USE = '55006';

/**
 * Drops a database despite open connections: Citus connects its servers to each other. Also ends prepared
 * transactions, which block the drop: a server or a client may have died before the commit.
 */
export async function dropByForce(server: Database, serverUrl: string, name: string): Promise<void> {
  const drop = async () => {
    await rollBackPrepared(server, serverUrl, name);
    await sql`drop database ${sql.id(name)} with (force)`.execute(server);
  };
  const isInUse = (error: { code?: string }) => {
    if (error.code !== IN_USE) throw error;
    return false;
  };
  // Citus's daemon reconnects immediately.
  await waitUntil(`${name} is dropped`, () => drop().then(() => true, isInUse));
}

async function rollBackPrepared(server: Database, serverUrl: string, name: string): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select gid as id from pg_prepared_xacts where database = ${name}`.execute(server);
  if (rows.length === 0) return;
  const connectionString = withDatabase(serverUrl, name);
  await using db = connectInTest(connectionString);
  for (const { id } of rows) await sql`rollback prepared ${sql.lit(id)}`.execute(db);
}
