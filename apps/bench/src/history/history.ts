import { randomInt } from 'node:crypto';
import type { Database } from '@floodgate/database';
import { reconcile } from '@floodgate/registrations';
import { sql } from 'kysely';
import { PartnerClient } from '@floodgate/test/harness/partner-client.ts';
import { startApiProcess } from '@floodgate/test/harness/service-process.ts';
import { createManyEvents, type ManyEvents } from '../many-events.ts';
import type { Progress } from '../progress.ts';
import { quantile } from '../report/statistics.ts';
import type { History } from '../results.ts';
import type { Servers } from '../servers.ts';
import { timeExport } from './exports.ts';
import { indexEverybody, timeFinds } from './finds.ts';
import { countReads } from './reads.ts';
import { storeHistory } from './store.ts';

export interface HistoryOptions {
  /** Registrations of the largest history. The others have a tenth. */
  rows: number;
}

export const DEFAULT_ROWS = 10_000_000;
const LIMIT = 1_000;
/** Timed pages of each kind, alternating. */
const PAGES = 200;
const WARM_UP_PAGES = 20;
/** Registrations of an event that is exported. */
const EXPORTED = { least: 10_000, most: 1_000_000 };
const ROWS_PER_SECOND = 50_000;
const OVERHEAD_SECONDS = 60;

interface Shape {
  name: string;
  events: number;
  partners: number;
  /** Share of the rows. */
  share: number;
}

const SHAPES: readonly Shape[] = [
  { name: '1 event, 1 partner', events: 1, partners: 1, share: 1 },
  { name: '1 event × 10 partners', events: 1, partners: 10, share: 0.1 },
  { name: '1,000 events × 10 partners', events: 1_000, partners: 10, share: 0.1 },
];

export const historySeconds = ({ rows }: HistoryOptions): number =>
  (rows * 2.4) / ROWS_PER_SECOND + OVERHEAD_SECONDS;

/**
 * Lists registrations from a long history. Measures the time of a page from the beginning and from any cursor through the API, and
 * Postgres's reads for one partner of ten. Throws if entries are missing or the books do not balance.
 */
export async function histories(
  servers: Servers,
  { rows }: HistoryOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<History[]> {
  await using database = await servers.openDatabase();
  await servers.emptyRedis();
  const { db, url } = database;
  const stored: { shape: Shape; owners: ManyEvents; registrations: number; journal: Journal }[] = [];
  for (const shape of SHAPES) {
    signal.throwIfAborted();
    progress.say(`storing ${shape.name}`);
    const owners = await createManyEvents(db, shape);
    const registrations = rows * shape.share;
    const partnerIds = owners.partners.map(({ id }) => id);
    const journal = await storeHistory(db, { events: owners.events, partnerIds }, registrations);
    stored.push({ shape, owners, registrations, journal });
    progress.add(registrations / ROWS_PER_SECOND);
  }
  const [difference] = await reconcile(db);
  if (difference) throw new Error(`${difference.subject} ${difference.problem}`);
  const api = await startApiProcess({ DATABASE_URL: url, QUEUE_URL: servers.redisUrl });
  try {
    const results: Omit<History, 'finds' | 'exported'>[] = [];
    for (const { shape, owners, registrations, journal } of stored) {
      signal.throwIfAborted();
      progress.say(`pages of ${shape.name}`);
      const perEvent = registrations / shape.partners / shape.events;
      const events = owners.events.map(({ id }) => ({ id, expected: perEvent }));
      results.push({
        name: shape.name,
        registrations,
        segments: journal.segments / registrations,
        journalBytes: journal.journalBytes / registrations,
        ...(await timePages(db, api.baseUrl, owners)),
        reads: await countReads(db, owners.partners.at(-1)!.id, events, LIMIT),
      });
    }
    // After the reads: Postgres counts those of a connection late.
    progress.say('finding attendees');
    const indexedPerSecond = await indexEverybody(db);
    const found: Pick<History, 'finds' | 'exported'>[] = [];
    for (const { shape, owners, registrations } of stored) {
      const { id } = owners.events.at(-1)!;
      const ofEvent = registrations / shape.events;
      const isExported = ofEvent >= EXPORTED.least && ofEvent <= EXPORTED.most;
      found.push({
        finds: { indexedPerSecond, ...(await timeFinds(db, id)) },
        exported: isExported ? await timeExport(url, id, ofEvent) : null,
      });
    }
    return results.map((result, index) => ({ ...result, ...found[index]! }));
  } finally {
    await api.end();
  }
}

type Journal = Awaited<ReturnType<typeof storeHistory>>;

/** Alternates both kinds, so that disturbances affect both. */
async function timePages(db: Database, baseUrl: string, owners: ManyEvents) {
  const [event, partner] = [owners.events.at(-1)!, owners.partners.at(-1)!];
  const { rows } = await sql<{ last: number; total: number }>`
    select max(last_offset) as last, sum(count) as total from journal_segments
    where shard_id = 0 and event_id = ${event.id} and partner_id = ${partner.id}`.execute(db);
  const { last, total } = rows[0]!;
  const client = new PartnerClient(baseUrl, { secretKey: partner.secretKey, eventRef: event.ref });
  // Only full pages: a shorter one is faster.
  const lastCursor = Math.floor(last * (1 - Math.min(1, (1.1 * LIMIT) / total)));
  const times = { first: [] as number[], any: [] as number[] };
  for (let page = 0; page < WARM_UP_PAGES + PAGES; page += 1) {
    const first = await timePage(client, 0, Math.min(LIMIT, total));
    const any = await timePage(client, lastCursor > 0 ? randomInt(lastCursor) : 0, Math.min(LIMIT, total));
    if (page < WARM_UP_PAGES) continue;
    times.first.push(first);
    times.any.push(any);
  }
  const summary = (ms: number[]) => ({ p50: quantile(ms, 0.5), p99: quantile(ms, 0.99) });
  return {
    firstPageMs: summary(times.first),
    anyPageMs: summary(times.any),
    pageSize: Math.min(LIMIT, total),
  };
}

async function timePage(client: PartnerClient, after: number, expected: number): Promise<number> {
  const startedAt = performance.now();
  const { body } = await client.request(`/api/v1/events/registrations?limit=${LIMIT}&after=${after}`);
  const ms = performance.now() - startedAt;
  const { registrations } = body.responseData as { registrations: unknown[] };
  if (registrations.length !== expected)
    throw new Error(`the page after ${after} has ${registrations.length} entries, not ${expected}`);
  return ms;
}
