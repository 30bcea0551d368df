import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect, migrate, type Database } from '@floodgate/database';
import { findFreePort, startPostgres, type PostgresServer } from '@floodgate/embedded-postgres';
import { migrateQueue } from '@floodgate/queue';
import { sql } from 'kysely';
import { copyAsStandby, followerSettings } from '../faults/standby.ts';
import { TEMPLATE_NAMESPACE } from '../harness/database-url.ts';
import { createServiceRoles, grantQueueToServiceRoles, grantServiceRoles } from '../harness/service-roles.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** Named as the tests' databases are, so that the API connects with a role of its own. */
const DATABASE = 'floodgate_test_replica';
// Every statement is logged: that is how a test knows which of the two was read.
const SETTINGS = {
  max_connections: '50',
  shared_buffers: '32MB',
  log_statement: 'all',
  wal_keep_size: '256MB',
};
const STATEMENTS = { tickets: 'from "tickets"', list: 'from journal_segments' };

/** One of the two servers, which keeps its address when it is started again. */
export class TestServer {
  readonly dataDir: string;
  readonly #settings: Record<string, string>;
  #server!: PostgresServer;
  #port: number | undefined;

  constructor(dataDir: string, settings: Record<string, string> = {}) {
    this.dataDir = dataDir;
    this.#settings = { ...SETTINGS, ...settings };
  }

  async start(): Promise<void> {
    this.#port ??= await findFreePort();
    const logFile = `${this.dataDir}.log`;
    const { dataDir } = this;
    this.#server = await startPostgres({ dataDir, logFile, port: this.#port, settings: this.#settings });
  }

  url(database = DATABASE): string {
    return this.#server.url(database);
  }

  connect(): Database {
    return connect({ connectionString: this.url(), applicationName: 'tests', maxConnections: 2 });
  }

  /** How many statements of the kind it has been sent. */
  statements(kind: keyof typeof STATEMENTS): number {
    return readFileSync(`${this.dataDir}.log`, 'utf8').split(STATEMENTS[kind]).length - 1;
  }

  async stop(): Promise<void> {
    await this.#server.stop();
  }

  /** Ends it as a crash does. */
  async kill(): Promise<void> {
    await this.#server.kill();
  }
}

/** A Postgres with Floodgate's schema and a standby that follows it, of a test's own. */
export interface PrimaryAndStandby {
  primary: TestServer;
  standby: TestServer;
  /** Of the primary, as the owner. */
  db: Database;
  /** The standby replays no more until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Resolves when the standby has all that the primary has now. */
  caughtUp(): Promise<void>;
  stop(): Promise<void>;
}

export async function startPrimaryAndStandby(): Promise<PrimaryAndStandby> {
  const directory = await mkdtemp(path.join(tmpdir(), 'floodgate-replica-'));
  const primary = new TestServer(path.join(directory, 'primary'));
  await primary.start();
  await prepare(primary);
  const standbyDir = path.join(directory, 'standby');
  await copyAsStandby({ dataDir: primary.dataDir, url: primary.url() }, standbyDir);
  const standby = new TestServer(standbyDir, followerSettings(primary.url()));
  await standby.start();
  const db = primary.connect();
  const onStandby = async (statement: string) => {
    await using connected = standby.connect();
    return (await sql<{ result: unknown }>`${sql.raw(statement)}`.execute(connected)).rows[0]!.result;
  };
  return {
    primary,
    standby,
    db,
    pause: async () => {
      await onStandby('select pg_wal_replay_pause() as result');
      const state = 'select pg_get_wal_replay_pause_state() as result';
      await waitUntil('replay is paused', async () => (await onStandby(state)) === 'paused');
    },
    resume: async () => void (await onStandby('select pg_wal_replay_resume() as result')),
    caughtUp: async () => {
      const { rows } = await sql<{ lsn: string }>`select pg_current_wal_flush_lsn()::text as lsn`.execute(db);
      const replayed = `select pg_last_wal_replay_lsn() >= '${rows[0]!.lsn}' as result`;
      await waitUntil('the standby has caught up', () => onStandby(replayed) as Promise<boolean>);
    },
    stop: async () => {
      await db.destroy();
      await standby.stop();
      await primary.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function prepare(primary: TestServer): Promise<void> {
  const server = connect({
    connectionString: primary.url('postgres'),
    applicationName: 'tests',
    maxConnections: 1,
  });
  await sql`create database ${sql.id(DATABASE)} encoding 'UTF8' template template0`.execute(server);
  await createServiceRoles(server, primary.url());
  await server.destroy();
  await using db = primary.connect();
  await migrate(db);
  await grantServiceRoles(db);
  await migrateQueue({ kind: 'postgres', connectionString: primary.url() }, TEMPLATE_NAMESPACE);
  await grantQueueToServiceRoles(primary.url(), TEMPLATE_NAMESPACE);
}
