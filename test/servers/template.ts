import { distribute, migrate, type Database } from '@floodgate/database';
import { migrateQueue } from '@floodgate/queue';
import { sql } from 'kysely';
import {
  DATABASE_PREFIX,
  TEMPLATE_NAMESPACE,
  templateOf,
  withDatabase,
  type Engine,
} from '../harness/database-url.ts';
import { connectInTest } from '../harness/connect-in-test.ts';
import { dropByForce } from '../harness/drop-by-force.ts';
import { createServiceRoles, grantQueueToServiceRoles, grantServiceRoles } from '../harness/service-roles.ts';

/** The minimum with several shards per server: each shard adds a tenth of a second to a copy. */
const SHARDS = 4;

/** Prepares the database that every test file clones, on all servers. Tests connect to the first. */
export async function prepareTemplate(engine: Engine, serverUrls: readonly string[]): Promise<void> {
  const name = templateOf(engine);
  const templateUrls = serverUrls.map((url) => withDatabase(url, name));
  await forEach(serverUrls, async (server, url) => {
    await dropLeftovers(engine, server, url);
    await sql`create database ${sql.id(name)} encoding 'UTF8' template template0`.execute(server);
  });
  // The coordinator of a cluster creates the roles on its other servers.
  await forEach(serverUrls.slice(0, 1), (server) => createServiceRoles(server, serverUrls[0]!));
  if (engine === 'citus') await joinServers(serverUrls, templateUrls);
  await fillTemplate(templateUrls[0]!);
  // A template with open connections cannot be copied, and the servers of Citus are connected.
  if (engine === 'citus')
    await forEach(serverUrls, async (server) => {
      await sql`alter database ${sql.id(name)} allow_connections false`.execute(server);
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`.execute(
        server,
      );
    });
}

/** Drops databases of earlier runs on a server that outlives them. */
async function dropLeftovers(engine: Engine, server: Database, url: string): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select datname as name from pg_database where starts_with(datname, ${DATABASE_PREFIX[engine]})`.execute(
    server,
  );
  for (const { name } of rows) await dropByForce(server, url, name);
}

async function fillTemplate(connectionString: string): Promise<void> {
  await forEach([connectionString], async (template) => {
    await migrate(template);
    await distribute(template, SHARDS);
    await grantServiceRoles(template);
  });
  await migrateQueue({ kind: 'postgres', connectionString }, TEMPLATE_NAMESPACE);
  await grantQueueToServiceRoles(connectionString, TEMPLATE_NAMESPACE);
}

/** Joins the databases on these servers into one cluster. */
async function joinServers(serverUrls: readonly string[], databaseUrls: readonly string[]): Promise<void> {
  await forEach(databaseUrls, (database) => sql`create extension citus`.execute(database));
  const [coordinator, ...workers] = serverUrls.map((url) => new URL(url));
  await forEach(databaseUrls.slice(0, 1), async (database) => {
    await sql`
      select citus_set_coordinator_host(${coordinator!.hostname}, ${portOf(coordinator!)})`.execute(database);
    for (const url of workers)
      await sql`select citus_add_node(${url.hostname}, ${portOf(url)})`.execute(database);
  });
}

/** Returns the URLs of a Citus cluster's servers, by the addresses in the coordinator's catalog. */
export async function readCitusServers(coordinatorUrl: string): Promise<string[]> {
  const urls: string[] = [];
  await forEach([coordinatorUrl], async (coordinator) => {
    const { rows } = await sql<{ host: string; port: number }>`
      select nodename as host, nodeport as port from pg_dist_node order by groupid`.execute(coordinator);
    for (const { host, port } of rows) {
      const url = new URL(coordinatorUrl);
      [url.hostname, url.port] = [host, String(port)];
      urls.push(url.href);
    }
  });
  return urls;
}

const portOf = ({ port }: URL) => sql`${Number(port)}::integer`;

async function forEach(
  urls: readonly string[],
  act: (db: Database, url: string) => Promise<unknown>,
): Promise<void> {
  await Promise.all(
    urls.map(async (connectionString) => {
      const db = connectInTest(connectionString);
      await act(db, connectionString);
      await db.destroy();
    }),
  );
}
