import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect, migrate, type Database } from '@floodgate/database';
import { startPostgres } from '@floodgate/embedded-postgres';
import { Redis } from 'ioredis';
import { sql } from 'kysely';
import { withDatabase } from '@floodgate/test/harness/database-url.ts';
import { findFreePort } from '@floodgate/test/harness/free-port.ts';
import { redisServerCommand, startRedis } from '@floodgate/test/servers/redis.ts';
import type { Contender, Template } from './contenders/contender.ts';

/** As durable as in production: every commit is on disk before its answer. */
const POSTGRES = {
  fsync: 'on',
  synchronous_commit: 'on',
  max_connections: '200',
  // Checkpoints only between runs: during a run they would affect single contenders.
  max_wal_size: '16GB',
  // Kept between runs, so that no run has to create them.
  min_wal_size: '2GB',
  checkpoint_timeout: '1h',
  shared_buffers: '512MB',
};
const REDIS = {
  appendonly: 'yes',
  appendfsync: 'everysec',
  save: '',
  'maxmemory-policy': 'noeviction',
  'auto-aof-rewrite-percentage': '0',
};

/** Postgres and Redis for one benchmark only. */
export interface Servers extends AsyncDisposable {
  pids: { postgres: number; redis: number };
  versions: Record<string, string>;
  redisUrl: string;
  /** Opens a database for a run: a new one, or the contender's filled one that is kept for all runs. */
  openDatabase(contender?: Pick<Contender, 'database' | 'template'>): Promise<RunDatabase>;
  /** Empties Redis before a run. */
  emptyRedis(): Promise<void>;
  /** Kills a server like a crash. */
  crash(server: 'postgres' | 'redis'): Promise<void>;
  /** Restarts a server at the same address. Resolves when it is ready. A Redis has its data or is empty. */
  comeBack(server: 'postgres' | 'redis' | 'empty redis'): Promise<void>;
  /** Runs a checkpoint, so that no run pays for earlier writes. */
  checkpoint(): Promise<void>;
}

export interface RunDatabase extends AsyncDisposable {
  url: string;
  db: Database;
}

/** This checkout's schema. */
const TEMPLATE: Template = {
  name: 'bench_template',
  fill: async (connectionString) => {
    await using db = connect({ connectionString, applicationName: 'bench', maxConnections: 1 });
    await migrate(db);
  },
};

/** Starts both servers. If that fails, it stops what it has started and throws. */
export async function startServers(): Promise<Servers> {
  // Redis first, because a machine may not have it.
  if (!redisServerCommand())
    throw new Error('npm run bench needs a redis-server or valkey-server on the PATH');
  await using started = new AsyncDisposableStack();
  const directory = await mkdtemp(path.join(tmpdir(), 'floodgate-bench-'));
  started.defer(() => rm(directory, { recursive: true, force: true }));
  const dataDir = path.join(directory, 'postgres');
  const logFile = path.join(directory, 'postgres.log');
  // A port that the system does not assign while Postgres is down.
  const postgresOptions = { dataDir, logFile, settings: POSTGRES, port: await findFreePort() };
  let postgres = await startPostgres(postgresOptions);
  started.defer(() => postgres.stop());
  const redisDirectory = path.join(directory, 'redis');
  await mkdir(redisDirectory);
  const redisSettings = Object.entries({ ...REDIS, dir: redisDirectory });
  const openRedis = (port?: number) =>
    startRedis(
      redisSettings.flatMap(([name, value]) => [`--${name}`, value]),
      port,
    );
  let redis = await openRedis();
  started.defer(() => redis.stop());
  const redisClient = started.adopt(new Redis(redis.url), (client) => client.disconnect());
  // Intended crashes cause these errors.
  redisClient.on('error', () => {});
  const server = started.adopt(
    connect({ connectionString: postgres.url(), applicationName: 'bench', maxConnections: 1 }),
    (db) => db.destroy(),
  );
  const { rows } = await sql<{ version: string }>`select split_part(version(), ' ', 2) as version`.execute(
    server,
  );
  const owned = started.move();
  let databases = 0;
  const filled = new Set<string>();
  const fillTemplate = async ({ name, fill }: Template) => {
    if (filled.has(name)) return;
    await createDatabase(server, name, 'template0');
    await fill(withDatabase(postgres.url(), name));
    filled.add(name);
  };
  return {
    pids: {
      postgres: Number((await readFile(path.join(dataDir, 'postmaster.pid'), 'utf8')).split('\n')[0]),
      redis: Number(/process_id:(\d+)/.exec(await redisClient.info('server'))?.[1]),
    },
    versions: {
      postgres: rows[0]!.version,
      redis: /redis_version:(\S+)/.exec(await redisClient.info('server'))?.[1] ?? 'unknown',
    },
    redisUrl: redis.url,
    openDatabase: async ({ database: kept, template = TEMPLATE } = {}) => {
      await fillTemplate(template);
      const database = kept?.name ?? `run_${++databases}`;
      const url = withDatabase(postgres.url(), database);
      const isMade = kept !== undefined && filled.has(kept.name);
      if (!isMade) await createDatabase(server, database, template.name);
      const db = connect({ connectionString: url, applicationName: 'bench', maxConnections: 2 });
      if (kept && !isMade) {
        await kept.fill(db);
        filled.add(kept.name);
      }
      return {
        url,
        db,
        // The database of a run is dropped after the run.
        [Symbol.asyncDispose]: async () => {
          await db.destroy();
          if (!kept) await sql`drop database ${sql.id(database)} with (force)`.execute(server);
        },
      };
    },
    emptyRedis: async () => void (await redisClient.flushall()),
    crash: (name) => (name === 'postgres' ? postgres.kill() : redis.kill()),
    comeBack: async (name) => {
      if (name === 'postgres') {
        postgres = await startPostgres(postgresOptions);
      } else {
        if (name === 'empty redis') await emptyDirectory(redisDirectory);
        redis = await openRedis(redis.port);
      }
    },
    checkpoint: async () => void (await sql`checkpoint`.execute(server)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function createDatabase(server: Database, name: string, template: string): Promise<unknown> {
  return sql`create database ${sql.id(name)} template ${sql.id(template)}`.execute(server);
}

async function emptyDirectory(directory: string): Promise<void> {
  await rm(directory, { recursive: true });
  await mkdir(directory);
}
