import { randomBytes } from 'node:crypto';
import { type Database } from '@floodgate/database';
import { sql } from 'kysely';
import { connectInTest } from './connect-in-test.ts';
import { withDatabase } from './database-url.ts';
import { TcpProxy } from './tcp-proxy.ts';

/** A new, empty database on the servers of a Citus cluster. */
export interface CitusDatabase {
  url: string;
  db: Database;
  /** Proxy between the coordinator and its first worker. */
  proxy: TcpProxy;
  proxyPort: number;
  drop(): Promise<void>;
}

const CREATE_EXTENSION = sql`create extension if not exists citus`;

/** Creates a database on the coordinator and on each of its workers. `url`: another database on that coordinator. */
export async function createCitusDatabase(url: string): Promise<CitusDatabase> {
  // Without the prefix of databases in which services have their own roles.
  const name = `floodgate_citus_${randomBytes(6).toString('hex')}`;
  const { rows: servers } = await on(url, (db) =>
    sql<{ host: string; port: number; is_worker: boolean }>`
      select nodename as host, nodeport as port, groupid > 0 as is_worker from pg_dist_node
      where noderole = 'primary' order by groupid`.execute(db),
  );
  const urlOf = ({ host, port }: { host: string; port: number }) =>
    Object.assign(new URL(url), { hostname: host, port: String(port) }).href;
  const [coordinator, ...workers] = servers;
  for (const server of servers) {
    await on(urlOf(server), (db) => sql`create database ${sql.id(name)}`.execute(db));
    await on(withDatabase(urlOf(server), name), (db) => CREATE_EXTENSION.execute(db));
  }
  const proxy = await TcpProxy.start(urlOf(workers[0]!));
  const own = withDatabase(url, name);
  await on(own, async (db) => {
    await sql`select citus_set_coordinator_host(${coordinator!.host}, ${coordinator!.port}::integer)`.execute(
      db,
    );
    for (const [index, worker] of workers.entries()) {
      const { hostname, port } = new URL(index === 0 ? proxy.through(urlOf(worker)) : urlOf(worker));
      await sql`select citus_add_node(${hostname}, ${Number(port)}::integer)`.execute(db);
    }
  });
  const db = connectInTest(own, 4);
  const drop = async () => {
    await db.destroy();
    for (const server of servers)
      await on(urlOf(server), (other) => sql`drop database ${sql.id(name)} with (force)`.execute(other));
    await proxy.stop();
  };
  return { url: own, db, proxy, proxyPort: Number(new URL(proxy.through(url)).port), drop };
}

async function on<Result>(url: string, work: (db: Database) => Promise<Result>): Promise<Result> {
  const db = connectInTest(url);
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}
