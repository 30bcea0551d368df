import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import { waitUntil } from '../../harness/wait-until.ts';
import { loadPeer, PEER_LETTERS, type PeerLetter } from '../peers/peer.ts';
import { createPeerRegistrations } from '../peers/schema.ts';
import type { Books, Contender, Finalization, RunningContender, Surroundings } from './contender.ts';

const REDIS_PEERS: readonly PeerLetter[] = ['a', 'b'];

const DESCRIPTIONS: Record<PeerLetter, string> = {
  a: 'a transaction per request (select … for update), then a BullMQ job on Redis',
  b: 'one statement per request, then a BullMQ job on Redis',
  c: 'one statement per request and a pg-boss job in the same transaction',
  d: 'one statement per request, which also adds a graphile-worker job',
  e: 'one statement per request, then a BullMQ job on Postgres',
};

/** What a good team would otherwise build: each one API process and one worker process, tuned. */
export const peers: readonly Contender[] = PEER_LETTERS.map((letter) => ({
  name: `peer-${letter}`,
  description: DESCRIPTIONS[letter],
  start: (surroundings) => startPeer(letter, surroundings),
}));

async function startPeer(
  letter: PeerLetter,
  { databaseUrl, redisUrl, db }: Surroundings,
): Promise<RunningContender> {
  const peer = await loadPeer(letter);
  await createPeerRegistrations(db);
  await peer.prepare?.(databaseUrl);
  const queueUrl = REDIS_PEERS.includes(letter) ? redisUrl : databaseUrl;
  const env = { PEER: letter, DATABASE_URL: databaseUrl, QUEUE_URL: queueUrl };
  const api = new PeerProcess('api', env);
  const worker = new PeerProcess('worker', env);
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
      stop: async () => {
        const results = await Promise.allSettled([api.end(), worker.end()]);
        for (const result of results) if (result.status === 'rejected') throw result.reason;
      },
    };
  } catch (error) {
    await Promise.allSettled([api.end(), worker.end()]);
    throw error;
  }
}

/** With V8's defaults: peers have no memory to save, and a generous heap only makes them faster. */
class PeerProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  #output = '';

  constructor(part: 'api' | 'worker', env: Record<string, string>) {
    const entry = fileURLToPath(new URL(`../peers/${part}.ts`, import.meta.url));
    this.#child = spawn(process.execPath, [entry], {
      env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#exited = once(this.#child, 'close');
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk) => (this.#output += String(chunk)));
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Waits for a line and answers what it captures. */
  printed(pattern: RegExp): Promise<string> {
    return waitUntil(`a peer prints ${pattern.source}`, () => {
      const { exitCode } = this.#child;
      if (exitCode !== null) throw new Error(`the peer ended with ${exitCode}: ${this.#output}`);
      return pattern.exec(this.#output)?.[1];
    });
  }

  async end(): Promise<void> {
    this.#child.kill();
    await this.#exited;
    if (this.#child.exitCode !== 0) throw new Error(`the peer did not stop in order: ${this.#output}`);
  }
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

// No index tells what is left: each confirmation would have to maintain it, and it takes only the benchmark to ask.
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
