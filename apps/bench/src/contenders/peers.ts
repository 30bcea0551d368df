import { fileURLToPath } from 'node:url';
import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import type { PeerName } from '../peers/peer.ts';
import { ContenderProcess, endAll } from './contender-process.ts';
import type { Books, Contender, Finalization, RunningContender, Surroundings } from './contender.ts';

const peer = (name: PeerName): Contender => ({
  name,
  start: (surroundings) => startPeer(name, surroundings),
});

/** A transaction per request (select … for update), then a BullMQ job. */
export const naive = peer('naive');
/** One statement per request, then a BullMQ job. */
export const bullmq = peer('bullmq');

/**
 * Creates the peers' `registrations`: Floodgate's columns and types, with a state per row in place of a
 * batch. Peers use Floodgate's tickets.
 */
async function createPeerRegistrations(db: Database): Promise<void> {
  // reserved_at is the time of the insert and not of the transaction's begin, which may have waited for the
  // ticket: that wait is not one for the worker. Half of each page stays free, so that confirming a row stays
  // on its page (HOT) and no index is touched.
  await sql`
    create table peer_registrations (like registrations including defaults including identity)
    with (fillfactor = 50)`.execute(db);
  await sql`
    alter table peer_registrations
      drop column batch_id, drop column position, drop column attendee_digest,
      alter column reserved_at set default clock_timestamp(),
      add column state batch_state not null default 'pending',
      add column finished_at timestamptz,
      add primary key (serial)`.execute(db);
}

async function startPeer(
  name: PeerName,
  { databaseUrl, redisUrl, db }: Surroundings,
): Promise<RunningContender> {
  await createPeerRegistrations(db);
  const env = { PEER: name, DATABASE_URL: databaseUrl, QUEUE_URL: redisUrl };
  const [api, worker] = [startPart('api', env), startPart('worker', env)];
  try {
    const baseUrl = await api.printed(/listening at (http:\/\/127\.0\.0\.1:\d+)/);
    await worker.printed(/"msg":"(working)"/);
    return {
      baseUrl,
      pids: { api: api.pid, worker: worker.pid },
      books: {
        read: () => readBooks(db),
        isFinalized: () => isFinalized(db),
        readFinalization: (since) => readFinalization(db, since),
      },
      stop: () => endAll(api, worker),
    };
  } catch (error) {
    await Promise.allSettled([api.end(), worker.end()]);
    throw error;
  }
}

/** Starts a process with V8's defaults: a large heap makes peers faster, and they need not save memory. */
function startPart(part: 'api' | 'worker', env: Record<string, string>): ContenderProcess {
  const entry = fileURLToPath(new URL(`../peers/${part}.ts`, import.meta.url));
  return new ContenderProcess({ name: `the peer's ${part}`, args: [entry], env });
}

async function readBooks(db: Database): Promise<Books> {
  const { rows } = await sql<Books>`
    with held as (
      select ticket_id, count(*) as seats, count(*) filter (where state = 'pending') as pending
      from peer_registrations group by ticket_id
    )
    select coalesce(sum(held.seats), 0) as registered, coalesce(sum(held.pending), 0) as pending,
      count(*) filter (
        where t.taken is distinct from coalesce(held.seats, 0) or held.seats > t.capacity
      ) as "wrongTickets"
    from tickets t full join held on held.ticket_id = t.id`.execute(db);
  return rows[0]!;
}

// Without an index for pending rows: each confirmation would have to maintain it, and only the benchmark
// needs it.
async function isFinalized(db: Database): Promise<boolean> {
  const { rows } = await sql`select from peer_registrations where state = 'pending' limit 1`.execute(db);
  return rows.length === 0;
}

async function readFinalization(db: Database, since: Date): Promise<Finalization> {
  const { rows } = await sql<{ p99Ms: number | null; lastFinishedAt: Date | null }>`
    select max(finished_at) as "lastFinishedAt",
      percentile_cont(0.99) within group (
        order by extract(epoch from finished_at - reserved_at)::float8 * 1000
      ) as "p99Ms"
    from peer_registrations
    where reserved_at >= ${since} and finished_at is not null`.execute(db);
  return { p99Ms: rows[0]?.p99Ms ?? undefined, lastFinishedAt: rows[0]?.lastFinishedAt ?? null };
}
