import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import {
  startApiProcess,
  startWorkerProcess,
  type Environment,
} from '@floodgate/test/harness/service-process.ts';
import type { Books, Contender, Finalization, RunningContender, Surroundings } from './contender.ts';

/** Floodgate: one API process and one worker process, as started by `npm run api` and `npm run worker`. */
export const floodgate: Contender = {
  name: 'floodgate',
  description: 'group commit: one statement and one commit for all who wait, a BullMQ job for many batches',
  start: startFloodgate,
};

/** Starts Floodgate with other settings of the API or the worker. */
export async function startFloodgate(
  { databaseUrl, redisUrl, db }: Surroundings,
  differing: Environment = {},
  differingWorker: Environment = {},
): Promise<RunningContender> {
  const env = { DATABASE_URL: databaseUrl, QUEUE_URL: redisUrl };
  const worker = await startWorkerProcess({ ...env, ...differingWorker });
  const api = await startApiProcess({ ...env, ...differing }).catch(async (error: unknown) => {
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

/** Reads the books of a Floodgate database. */
export function floodgateBooks(db: Database): NonNullable<RunningContender['books']> {
  return {
    read: () => readBooks(db),
    isFinalized: () => isFinalized(db),
    readFinalization: (since, quantiles) => readFinalization(db, since, quantiles),
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

async function isFinalized(db: Database): Promise<boolean> {
  const { rows } = await sql`select from batches where state = 'pending' limit 1`.execute(db);
  return rows.length === 0;
}

// A registration is finalized with its batch, so each batch is weighted by its registrations.
async function readFinalization(
  db: Database,
  since: Date,
  quantiles: readonly number[],
): Promise<Finalization> {
  const { rows } = await sql<{ wait: number; size: number; finishedAt: Date }>`
    select extract(epoch from finished_at - created_at)::float8 * 1000 as wait, size, finished_at as "finishedAt"
    from batches
    where created_at >= ${since} and finished_at is not null and size > 0
    order by wait`.execute(db);
  const total = rows.reduce((sum, { size }) => sum + size, 0);
  const waitAt = (quantile: number) => {
    let seen = 0;
    return rows.find(({ size }) => (seen += size) >= quantile * total)?.wait ?? Number.NaN;
  };
  const finishes = rows.map(({ finishedAt }) => finishedAt.getTime());
  return {
    waitsMs: quantiles.map(waitAt),
    lastFinishedAt: finishes.length > 0 ? new Date(finishes.reduce((a, b) => Math.max(a, b))) : null,
  };
}
