import { fileURLToPath } from 'node:url';
import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import { loadPeer, PEER_LETTERS, type PeerLetter } from '../peers/peer.ts';
import { createPeerRegistrations } from '../peers/schema.ts';
import { ContenderProcess, endAll } from './contender-process.ts';
import type { Books, Contender, Finalization, RunningContender, Surroundings } from './contender.ts';

const REDIS_PEERS: readonly PeerLetter[] = ['a', 'b'];

const DESCRIPTIONS: Record<PeerLetter, string> = {
  a: 'a transaction per request (select … for update), then a BullMQ job on Redis',
  b: 'one statement per request, then a BullMQ job on Redis',
  c: 'one statement per request and a pg-boss job in the same transaction',
  d: 'one statement per request, which also adds a graphile-worker job',
  e: 'one statement per request, then a BullMQ job on Postgres',
};

/** Other designs of a good team, each with one tuned API process and one tuned worker process. */
export const peers: readonly Contender[] = PEER_LETTERS.map((letter) => ({
  name: `peer-${letter}`,
  description: DESCRIPTIONS[letter],
  start: (surroundings) => startPeer(letter, surroundings),
}));

async function startPeer(
  letter: PeerLetter,
  { databaseUrl, redisUrl, db, apiFlags }: Surroundings,
): Promise<RunningContender> {
  const peer = await loadPeer(letter);
  await createPeerRegistrations(db);
  await peer.prepare?.(databaseUrl);
  const queueUrl = REDIS_PEERS.includes(letter) ? redisUrl : databaseUrl;
  const env = { PEER: letter, DATABASE_URL: databaseUrl, QUEUE_URL: queueUrl };
  const api = startPart('api', env, apiFlags);
  const worker = startPart('worker', env);
  try {
    const baseUrl = await api.printed(/listening at (http:\/\/127\.0\.0\.1:\d+)/);
    await worker.printed(/"msg":"(working)"/);
    return {
      baseUrl,
      pids: { api: api.pid, worker: worker.pid },
      books: {
        read: () => readBooks(db),
        isFinalized: () => isFinalized(db),
        readFinalization: (since, quantiles) => readFinalization(db, since, quantiles),
      },
      apiOutput: () => api.output,
      stop: () => endAll(api, worker),
    };
  } catch (error) {
    await Promise.allSettled([api.end(), worker.end()]);
    throw error;
  }
}

/** Starts a process with V8's defaults: a large heap makes peers faster, and they need not save memory. */
function startPart(part: 'api' | 'worker', env: Record<string, string>, flags: readonly string[] = []) {
  const entry = fileURLToPath(new URL(`../peers/${part}.ts`, import.meta.url));
  return new ContenderProcess({ name: `the peer's ${part}`, flags, args: [entry], env });
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

// Without an index for pending rows: each confirmation would have to maintain it, and only the benchmark needs it.
async function isFinalized(db: Database): Promise<boolean> {
  const { rows } = await sql`select from peer_registrations where state = 'pending' limit 1`.execute(db);
  return rows.length === 0;
}

async function readFinalization(
  db: Database,
  since: Date,
  quantiles: readonly number[],
): Promise<Finalization> {
  const { rows } = await sql<{ waitsMs: number[] | null; lastFinishedAt: Date | null }>`
    select max(finished_at) as "lastFinishedAt",
      percentile_cont(${quantiles}::float8[]) within group (
        order by extract(epoch from finished_at - reserved_at)::float8 * 1000
      ) as "waitsMs"
    from peer_registrations
    where reserved_at >= ${since} and finished_at is not null`.execute(db);
  return { waitsMs: rows[0]?.waitsMs ?? [], lastFinishedAt: rows[0]?.lastFinishedAt ?? null };
}
