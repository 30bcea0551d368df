import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import {
  startApiProcess,
  startWorkerProcess,
  type Environment,
} from '@floodgate/test/harness/service-process.ts';
import type { Servers } from '../servers.ts';
import type {
  BookKeeper,
  Books,
  Contender,
  Finalization,
  RunningContender,
  Surroundings,
} from './contender.ts';

/** Floodgate: one API process and one worker process, as started by `npm run api` and `npm run worker`. */
export const floodgate: Contender = {
  name: 'floodgate',
  start: (surroundings) => startFloodgate(surroundings),
};

/** Settings that differ from those of the tests. */
export interface Differing {
  api?: Environment;
  worker?: Environment;
}

async function startFloodgate(
  { databaseUrl, redisUrl, db }: Surroundings,
  differing: Differing = {},
): Promise<RunningContender> {
  const env = { DATABASE_URL: databaseUrl, QUEUE_URL: redisUrl };
  const worker = await startWorkerProcess({ ...env, ...differing.worker });
  const api = await startApiProcess({ ...env, ...differing.api }).catch(async (error: unknown) => {
    await worker.end();
    throw error;
  });
  return {
    baseUrl: api.baseUrl,
    pids: { api: api.child.pid!, worker: worker.child.pid! },
    books: floodgateBooks(db),
    stop: async () => void (await Promise.all([api.end(), worker.end()])),
  };
}

/** Floodgate on a database of its own, until it is disposed. */
export interface OpenFloodgate extends AsyncDisposable {
  db: Database;
  baseUrl: string;
  pids: { api: number; worker: number };
  books: BookKeeper;
}

/**
 * Opens Floodgate on a new database and an empty Redis. `slowBatchLimit`: commits take 100 ms, and have at
 * most this many registrations each.
 */
export async function openFloodgate(
  servers: Servers,
  { slowBatchLimit, ...differing }: Differing & { slowBatchLimit?: string | undefined } = {},
): Promise<OpenFloodgate> {
  await using stack = new AsyncDisposableStack();
  const { db, url: databaseUrl } = stack.use(await servers.openDatabase());
  await servers.emptyRedis();
  if (slowBatchLimit !== undefined) {
    await slowCommits(db);
    differing.api = { ...differing.api, BATCH_LIMIT: slowBatchLimit };
  }
  const running = await startFloodgate({ databaseUrl, redisUrl: servers.redisUrl, db }, differing);
  stack.defer(() => running.stop());
  const owned = stack.move();
  return {
    db,
    baseUrl: running.baseUrl,
    pids: { api: running.pids.api!, worker: running.pids.worker! },
    books: running.books!,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Postgres's longest commit_delay. */
const SLOW_COMMIT_MICROS = 100_000;

/** Makes commits slow, for new connections. */
async function slowCommits(db: Database): Promise<void> {
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(db);
  const name = sql.id(rows[0]!.name);
  await sql`alter database ${name} set commit_delay = ${sql.lit(SLOW_COMMIT_MICROS)}`.execute(db);
  await sql`alter database ${name} set commit_siblings = 0`.execute(db);
}

/** Reads the books of a Floodgate database. */
export function floodgateBooks(db: Database): BookKeeper {
  return {
    read: () => readBooks(db),
    isFinalized: async () => {
      const { rows } = await sql`select from batches where state = 'pending' limit 1`.execute(db);
      return rows.length === 0;
    },
    readFinalization: (since) => readFinalization(db, since),
  };
}

async function readBooks(db: Database): Promise<Books> {
  const { rows } = await sql<Books>`
    with held as (select ticket_id, count(*) as seats from registrations group by ticket_id)
    select coalesce(sum(held.seats), 0) as registered,
      (select coalesce(sum(size), 0) from batches where state <> 'confirmed') as pending,
      count(*) filter (
        where tickets.taken is distinct from coalesce(held.seats, 0) or held.seats > tickets.capacity
      ) as "wrongTickets"
    from tickets full join held on held.ticket_id = tickets.id`.execute(db);
  return rows[0]!;
}

// A registration is finalized with its batch, so each batch is weighted by its registrations.
async function readFinalization(db: Database, since: Date): Promise<Finalization> {
  const { rows } = await sql<{ p99Ms: number | null; lastFinishedAt: Date | null }>`
    with finished as (
      select extract(epoch from finished_at - created_at)::float8 * 1000 as wait, finished_at,
        sum(size) over (order by finished_at - created_at) as seen, sum(size) over () as total
      from batches
      where created_at >= ${since} and finished_at is not null and size > 0
    )
    select min(wait) filter (where seen >= 0.99 * total) as "p99Ms", max(finished_at) as "lastFinishedAt"
    from finished`.execute(db);
  return { p99Ms: rows[0]?.p99Ms ?? undefined, lastFinishedAt: rows[0]?.lastFinishedAt ?? null };
}
