import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect, type Database } from '@floodgate/database';
import { sql } from 'kysely';
import { withDatabase } from '../harness/database-url.ts';
import { TcpProxy } from '../harness/tcp-proxy.ts';
import { CITUS_SETTINGS, citusPrograms } from '../servers/citus.ts';
import { CONNECT_TIMEOUT_MS, PostgresUnderTest } from './postgres-under-test.ts';

const NODES = 2;

/** A worker node of a Citus cluster, with the wire by which the coordinator and the other nodes reach it. */
export interface NodeUnderTest {
  server: PostgresUnderTest;
  wire: TcpProxy;
  /** Of its wire: what the cluster knows it by. */
  port: number;
}

/** A coordinator and two worker nodes, each of which can be broken by itself. */
export class CitusUnderTest implements AsyncDisposable {
  readonly coordinator: PostgresUnderTest;
  readonly nodes: readonly NodeUnderTest[];
  readonly #owned: AsyncDisposableStack;

  private constructor(
    coordinator: PostgresUnderTest,
    nodes: readonly NodeUnderTest[],
    owned: AsyncDisposableStack,
  ) {
    this.coordinator = coordinator;
    this.nodes = nodes;
    this.#owned = owned;
  }

  /** Starts the servers, each with an empty database of this name, as one cluster. */
  static async start(database: string): Promise<CitusUnderTest> {
    await using started = new AsyncDisposableStack();
    const startServer = async () => started.adopt(await startEmpty(database), (server) => server.stop());
    const [coordinator, ...servers] = await Promise.all([
      startServer(),
      ...Array.from({ length: NODES }, startServer),
    ]);
    const nodes: NodeUnderTest[] = [];
    for (const server of servers) {
      const wire = started.adopt(await TcpProxy.start(server.url()), (proxy) => proxy.stop());
      nodes.push({ server, wire, port: portOf(wire.through(server.url())) });
    }
    await using db = openAs(withDatabase(coordinator.url(), database));
    await sql`select citus_set_coordinator_host('127.0.0.1', ${portOf(coordinator.url())}::integer)`.execute(
      db,
    );
    for (const { port } of nodes) await sql`select citus_add_node('127.0.0.1', ${port}::integer)`.execute(db);
    return new CitusUnderTest(coordinator, nodes, started.move());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#owned.disposeAsync();
  }
}

/** Returns the node that a shard's events are stored on. */
export async function nodeOf(
  db: Database,
  nodes: readonly NodeUnderTest[],
  shardId: number,
): Promise<NodeUnderTest | undefined> {
  const { rows } = await sql<{ port: number }>`
    select nodeport as port
    from pg_dist_placement join pg_dist_node using (groupid)
    where shardid = get_shard_id_for_distribution_column('tickets', ${shardId}::integer)`.execute(db);
  return nodes.find(({ port }) => port === rows[0]!.port);
}

async function startEmpty(database: string): Promise<PostgresUnderTest> {
  const directory = await mkdtemp(path.join(tmpdir(), 'floodgate-citus-'));
  const server = await PostgresUnderTest.start(directory, {
    programsDir: citusPrograms()!,
    settings: CITUS_SETTINGS,
  });
  await server.trustEverybody();
  await using postgres = openAs(server.url());
  await sql`create database ${sql.id(database)}`.execute(postgres);
  await using db = openAs(withDatabase(server.url(), database));
  await sql`create extension citus`.execute(db);
  return server;
}

const openAs = (connectionString: string) =>
  connect({
    connectionString,
    applicationName: 'fault suite',
    maxConnections: 1,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
  });

const portOf = (url: string) => Number(new URL(url).port);
