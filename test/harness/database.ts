import { randomBytes } from 'node:crypto';
import { type Database } from '@floodgate/database';
import { sql } from 'kysely';
import { withDeadline } from '@floodgate/service';
import { inject } from 'vitest';
import { connectInTest } from './connect-in-test.ts';
import { DATABASE_PREFIX, templateOf, withDatabase } from './database-url.ts';
import { dropByForce } from './drop-by-force.ts';
import { grantServiceRoles } from './service-roles.ts';
import { waitUntil } from './wait-until.ts';

const CLOSE_WITHIN_MS = 30_000;

/** A migrated database that belongs to one test file. */
export interface TestDatabase {
  url: string;
  db: Database;
  /** Connects to the server of a shard, where longer transactions can register. The caller closes the connection. */
  openShard(shardId: number): Promise<Database>;
  /** Drops the database. Fails if a connection is open, because that is a leaked pool. */
  drop(): Promise<void>;
}

/** Clones the template: on Citus, on every server of the cluster. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const [engine, urls] = [inject('engine'), inject('serverUrls')];
  const name = DATABASE_PREFIX[engine] + randomBytes(6).toString('hex');
  const servers = urls.map((connectionString) => connectInTest(connectionString));
  await onAll(servers, async (server) => {
    await sql`create database ${sql.id(name)} template ${sql.id(templateOf(engine))}`.execute(server);
    // Tests use triggers to make Postgres refuse statements.
    if (engine === 'citus')
      await sql`alter database ${sql.id(name)} set citus.enable_unsafe_triggers = on`.execute(server);
  });
  const url = withDatabase(urls[0]!, name);
  const db = connectInTest(url, 5);
  // A copy has all privileges inside the database, but not those on the database itself.
  await grantServiceRoles(db);
  return {
    url,
    db,
    openShard: async (shardId) => {
      const port = engine === 'citus' ? await portOfShard(db, shardId) : new URL(url).port;
      const server = urls.find((one) => new URL(one).port === port)!;
      return connectInTest(withDatabase(server, name), 2);
    },
    drop: async () => {
      // A test that failed can leave a transaction open. The pool would wait for it without end.
      const leaked = () => Promise.reject(new Error('a test has left a transaction open'));
      await withDeadline(db.destroy(), CLOSE_WITHIN_MS, leaked);
      await waitUntil(`nobody is connected to ${name}`, () => isUnused(servers[0]!, name));
      for (const [index, server] of servers.entries()) {
        if (engine === 'citus') await dropByForce(server, urls[index]!, name);
        else await sql`drop database ${sql.id(name)}`.execute(server);
      }
      await onAll(servers, (server) => server.destroy());
    },
  };
}

async function portOfShard(db: Database, shardId: number): Promise<string> {
  const { rows } = await sql<{ port: string }>`
    select nodeport::text as port from pg_dist_placement join pg_dist_node using (groupid)
    where shardid = get_shard_id_for_distribution_column('tickets', ${shardId}::integer)`.execute(db);
  return rows[0]!.port;
}

/** Waits until no transaction is open in a database. A test that failed, or forgot one, would hold its locks for ever. */
export async function waitUntilNoneIsOpen(db: Database): Promise<void> {
  const isNoneOpen = async () => {
    const { rows } = await sql`
      select from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and state like 'idle in transaction%'`.execute(
      db,
    );
    return rows.length === 0;
  };
  await waitUntil('no transaction is open: a test has left one', isNoneOpen, CLOSE_WITHIN_MS);
}

async function isUnused(server: Database, name: string): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_activity
    where datname = ${name} and application_name not like 'citus%' and backend_type not like 'Citus%'`.execute(
    server,
  );
  return rows.length === 0;
}

const onAll = (servers: Database[], act: (server: Database) => Promise<unknown>) =>
  Promise.all(servers.map(act));
