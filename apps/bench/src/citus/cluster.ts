import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { connect, distribute, migrate, type Database } from '@floodgate/database';
import { sql } from 'kysely';
import { withDatabase } from '@floodgate/test/harness/database-url.ts';
import { cpuMicrosOfTree, parentOf } from '@floodgate/test/harness/process-usage.ts';
import type { RunDatabase } from '../servers.ts';

export const SHARDS = 32;

/** A server of the cluster. */
interface Node {
  /** URL of the database that `up` has created. */
  url: string;
  port: number;
  /** Process id of its postmaster. */
  pid: number;
}

/** A Citus cluster whose servers run on this machine. */
export interface CitusCluster extends AsyncDisposable {
  /** One line for a reader. */
  description: string;
  /** Returns the CPU time of all processes of the servers so far. */
  cpuMicros(): Promise<{ coordinator: number; workers: number }>;
  /** Creates a database that is distributed over the cluster. */
  openSpread(): Promise<RunDatabase>;
  /** Creates a database without the extension on the coordinator's server: same Postgres, same settings. */
  openPlain(): Promise<RunDatabase>;
  /** Runs a checkpoint on all servers. */
  checkpoint(): Promise<void>;
}

/**
 * Opens the cluster of the coordinator in TEST_CITUS_URL, or starts one with the program in CITUS_CLUSTER
 * (`up`, `down`). Throws if neither is set.
 */
export async function findCluster(env = process.env): Promise<CitusCluster> {
  const { TEST_CITUS_URL: given, CITUS_CLUSTER: program } = env;
  if (!given && !program)
    throw new Error('--citus needs TEST_CITUS_URL, or the program of CITUS_CLUSTER that starts a cluster');
  await using started = new AsyncDisposableStack();
  const url = given || (await up(program!));
  if (!given) started.defer(async () => void (await control(program!, 'down')));
  const coordinator = started.adopt(open(url), (db) => db.destroy());
  const nodes = await readNodes(coordinator, url);
  const names: string[] = [];
  started.defer(() => dropDatabases(nodes, names));
  const createOn = async (some: readonly Node[]) => {
    const name = `floodgate_bench_${randomBytes(6).toString('hex')}`;
    names.push(name);
    for (const node of some) await onNode(node.url, (db) => sql`create database ${sql.id(name)}`.execute(db));
    return name;
  };
  const versions = await readVersions(coordinator);
  const owned = started.move();
  return {
    description: `${versions}, a coordinator and ${nodes.length - 1} servers with ${SHARDS} shards`,
    cpuMicros: async () => {
      const used = await Promise.all(
        nodes.map(async ({ pid }) => (await cpuMicrosOfTree(pid)) ?? Number.NaN),
      );
      return { coordinator: used[0]!, workers: used.slice(1).reduce((sum, one) => sum + one, 0) };
    },
    openSpread: async () => {
      const name = await createOn(nodes);
      await joinNodes(nodes, name);
      return openMigrated(withDatabase(url, name));
    },
    openPlain: async () => openMigrated(withDatabase(url, await createOn(nodes.slice(0, 1)))),
    checkpoint: async () => {
      for (const node of nodes) await onNode(node.url, (db) => sql`checkpoint`.execute(db));
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const run = promisify(execFile);
const control = (program: string, ...args: string[]) => run(program, args);

async function up(program: string): Promise<string> {
  const { stdout } = await control(program, 'up');
  const url = /^DATABASE_URL=(.+)$/m.exec(stdout)?.[1];
  if (!url) throw new Error(`${program} up printed no DATABASE_URL`);
  return url;
}

const open = (connectionString: string) =>
  connect({ connectionString, applicationName: 'bench', maxConnections: 2 });

async function onNode<Result>(url: string, use: (db: Database) => Promise<Result>): Promise<Result> {
  await using db = open(url);
  return await use(db);
}

/** Returns the servers, the coordinator first. */
async function readNodes(coordinator: Database, url: string): Promise<Node[]> {
  const { rows } = await sql<{ host: string; port: number }>`
    select nodename as host, nodeport as port from pg_dist_node where isactive order by groupid`.execute(
    coordinator,
  );
  const nodes: Node[] = [];
  for (const { host, port } of rows) {
    const nodeUrl = new URL(url);
    nodeUrl.hostname = host;
    nodeUrl.port = String(port);
    nodes.push({ url: nodeUrl.href, port, pid: await onNode(nodeUrl.href, readPostmaster) });
  }
  return nodes;
}

async function readPostmaster(db: Database): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
  const parent = await parentOf(rows[0]!.pid);
  if (parent === undefined) throw new Error('--citus needs all servers of the cluster on this machine');
  return parent;
}

async function readVersions(coordinator: Database): Promise<string> {
  const { rows } = await sql<{ postgres: string; citus: string }>`
    select split_part(version(), ' ', 2) as postgres, split_part(citus_version(), ' ', 2) as citus`.execute(
    coordinator,
  );
  return `Citus ${rows[0]!.citus} on PostgreSQL ${rows[0]!.postgres}`;
}

async function joinNodes([coordinator, ...workers]: readonly Node[], name: string): Promise<void> {
  for (const node of [...workers, coordinator!])
    await onNode(withDatabase(node.url, name), (db) => sql`create extension citus`.execute(db));
  await onNode(withDatabase(coordinator!.url, name), async (db) => {
    const host = ({ url }: Node) => new URL(url).hostname;
    await sql`select citus_set_coordinator_host(${host(coordinator!)}, ${coordinator!.port}::integer)`.execute(
      db,
    );
    for (const node of workers)
      await sql`select citus_add_node(${host(node)}, ${node.port}::integer)`.execute(db);
  });
}

async function openMigrated(url: string): Promise<RunDatabase> {
  const db = open(url);
  await migrate(db);
  await distribute(db, SHARDS);
  return { url, db, [Symbol.asyncDispose]: () => db.destroy() };
}

async function dropDatabases(nodes: readonly Node[], names: readonly string[]): Promise<void> {
  for (const { url } of nodes)
    for (const name of names)
      await onNode(url, (db) => sql`drop database if exists ${sql.id(name)} with (force)`.execute(db));
}
