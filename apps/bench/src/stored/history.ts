import { randomInt } from 'node:crypto';
import type { Database } from '@floodgate/database';
import { PartnerClient } from '@floodgate/test/harness/partner-client.ts';
import { startApiProcess } from '@floodgate/test/harness/service-process.ts';
import { sql } from 'kysely';
import type { Bench, Mode } from '../mode.ts';
import { assertReconciled } from '../rates/books.ts';
import { atMost, type Values } from '../report/results.ts';
import { quantile } from '../report/statistics.ts';
import { timeExport } from './exports.ts';
import { indexEverybody, timeFinds } from './finds.ts';
import { createManyEvents, type ManyEvents } from './many-events.ts';
import { storeHistory } from './store-history.ts';

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

const TARGETS = {
  'any page ÷ first': atMost(1.5),
  'found in an event p99 ms': atMost(50),
  'page of attendees p99 ms': atMost(50),
  'export s': atMost(60),
  'export MiB': atMost(150),
};

interface Stored {
  shape: Shape;
  owners: ManyEvents;
  registrations: number;
}

/**
 * Lists registrations from a long history: the time of a page from the beginning and from any cursor, of a
 * search of an operator, and of an export. Throws if entries are missing or the books do not balance.
 */
export const HISTORY: Mode = {
  name: 'history',
  help: 'pages, searches and exports of a long history',
  usual: { rows: 10_000_000 },
  duration: ({ rows }) => (rows * 2.4) / ROWS_PER_SECOND + OVERHEAD_SECONDS,
  measure: async (bench, { rows }) => {
    const { servers, results, progress, signal } = bench;
    await using database = await servers.openDatabase();
    await servers.emptyRedis();
    const { db, url } = database;
    const stored = await storeAll(bench, db, rows);
    const api = await startApiProcess({ DATABASE_URL: url, QUEUE_URL: servers.redisUrl });
    try {
      progress.say('attendees are indexed');
      const indexed = { 'attendees indexed/s': await indexEverybody(db) };
      for (const { shape, owners, registrations } of stored) {
        signal.throwIfAborted();
        progress.say(`pages of ${shape.name}`);
        const { id } = owners.events.at(-1)!;
        const ofEvent = registrations / shape.events;
        const isExported = ofEvent >= EXPORTED.least && ofEvent <= EXPORTED.most;
        const values = {
          registrations,
          ...(await timePages(db, api.baseUrl, owners)),
          ...(await timeFinds(db, id)),
          ...(isExported && (await timeExport(url, id, ofEvent))),
          ...indexed,
        };
        results.add('Lists of a long history: one partner of them all', shape.name, values, TARGETS);
      }
    } finally {
      await api.end();
    }
  },
};

async function storeAll({ progress, signal }: Bench, db: Database, rows: number): Promise<Stored[]> {
  const stored: Stored[] = [];
  for (const shape of SHAPES) {
    signal.throwIfAborted();
    progress.say(`storing ${shape.name}`);
    const owners = await createManyEvents(db, shape);
    const registrations = rows * shape.share;
    await storeHistory(db, owners, registrations);
    stored.push({ shape, owners, registrations });
    progress.add(registrations / ROWS_PER_SECOND);
  }
  await assertReconciled(db);
  return stored;
}

/** Alternates both kinds, so that disturbances affect both. */
async function timePages(db: Database, baseUrl: string, owners: ManyEvents): Promise<Values> {
  const [event, partner] = [owners.events.at(-1)!, owners.partners.at(-1)!];
  const { rows } = await sql<{ last: number; total: number }>`
    select max(last_offset) as last, sum(count) as total from journal_segments
    where shard_id = 0 and event_id = ${event.id} and partner_id = ${partner.id}`.execute(db);
  const { last, total } = rows[0]!;
  const client = new PartnerClient(baseUrl, { secretKey: partner.secretKey, eventRef: event.eventRef });
  // Only full pages: a shorter one is faster.
  const lastCursor = Math.floor(last * (1 - Math.min(1, (1.1 * LIMIT) / total)));
  const size = Math.min(LIMIT, total);
  const times = { first: [] as number[], any: [] as number[] };
  for (let page = 0; page < WARM_UP_PAGES + PAGES; page += 1) {
    const first = await timePage(client, 0, size);
    const any = await timePage(client, lastCursor > 0 ? randomInt(lastCursor) : 0, size);
    if (page < WARM_UP_PAGES) continue;
    times.first.push(first);
    times.any.push(any);
  }
  return {
    'any page ÷ first': quantile(times.any, 0.5) / quantile(times.first, 0.5),
    'entries in a page': size,
    'first page p50 ms': quantile(times.first, 0.5),
    'first page p99 ms': quantile(times.first, 0.99),
    'any page p50 ms': quantile(times.any, 0.5),
    'any page p99 ms': quantile(times.any, 0.99),
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
