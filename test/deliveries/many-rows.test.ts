import {
  leaseDeliveries,
  pruneDeliveries,
  queueDeliveries,
  queueFollowUps,
  requeueDeliveries,
} from '@floodgate/deliveries';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = eventTest({ sharesEvent: true, own: 'counts, empties or compares whole tables' });

// What a table costs that holds every e-mail of years.

const KINDS = ['confirmation', 'event-updated'].map((name) => ({ name, consumerKind: null }));
/** MANY_ROWS=10000000 measures the size that decision 78 names. */
const FINISHED = Number(process.env['MANY_ROWS'] ?? 200_000);
const DAY_MS = 86_400_000;

const addFinished = (count: number, daysAgo: number, from = 1_000_000_000) =>
  sql`
    insert into deliveries (shard_id, event_id, kind, subject, state, created_at, sent_at)
    select ${given.gala.shardId}::integer, ${given.gala.eventId}::integer, 'confirmation', serial::text, 'sent', at, at
    from (
      select serial, ${new Date(Date.now() - daysAgo * DAY_MS)}::timestamptz as at
      from generate_series(${from}::bigint, ${from + count - 1}::bigint) serial
    ) finished`.execute(given.database.db);

const queue = (subjects: readonly number[], kind = 'confirmation') =>
  queueDeliveries(
    given.database.db,
    { shardId: given.gala.shardId, eventId: given.gala.eventId },
    subjects.map((subject) => ({ kind, subject: String(subject), since: new Date() })),
  );

/** Median milliseconds of a lease. */
async function leaseMs(): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < 21; run += 1) {
    await queue(Array.from({ length: 25 }, (_, index) => 25 * run + index));
    const startedAt = performance.now();
    const leased = await leaseDeliveries(given.database.db, given.gala.shardId, KINDS, 25);
    times.push(performance.now() - startedAt);
    expect(leased).toHaveLength(25);
  }
  await sql`delete from deliveries where state = 'sending'`.execute(given.database.db);
  return times.toSorted((a, b) => a - b)[10]!;
}

test('finished rows do not slow a lease', async () => {
  const empty = await leaseMs();
  await addFinished(FINISHED, 100);
  const full = await leaseMs();
  if (process.env['MANY_ROWS'])
    console.log(`${FINISHED} rows: ${full.toFixed(2)} ms; none: ${empty.toFixed(2)} ms`);
  // A scan of the table takes at least 10 ms here.
  expect(full).toBeLessThan(empty * 3 + 5);
}, 600_000);

test('all are queued again, however many, and cancelled ones stay as they are', async () => {
  const { db } = given.database;
  const [eventId, kind] = [given.gala.eventId, 'confirmation'];
  await sql`delete from deliveries`.execute(db);
  await addFinished(45_000, 1);
  await sql`update deliveries set state = 'cancelled' where subject like '%7'`.execute(db);
  expect(await requeueDeliveries(db, { shardId: given.gala.shardId, eventId, kind }, null)).toBe(40_500);
  const rows = tablesOf(db)
    .selectFrom('deliveries')
    .select(({ fn }) => ['state', fn.countAll<number>().as('rows')]);
  expect(await rows.groupBy('state').orderBy('state').execute()).toEqual([
    { state: 'cancelled', rows: 4_500 },
    { state: 'queued', rows: 40_500 },
  ]);
});

test('all who got an older edition get a follow-up, however many, and once', async () => {
  const { db } = given.database;
  const updates = { shardId: given.gala.shardId, eventId: given.gala.eventId, kind: 'event-updated' };
  await sql`delete from deliveries`.execute(db);
  await addFinished(45_000, 1);
  const follow = () => queueFollowUps(db, updates, { after: 'confirmation', revision: 2 });
  expect([await follow(), await follow()]).toEqual([45_000, 0]);
});

test('old rows are pruned when the journal has nothing as old, and unfinished ones never', async () => {
  const { db } = given.database;
  await sql`delete from deliveries`.execute(db);
  const count = () =>
    tablesOf(db)
      .selectFrom('deliveries')
      .select(({ fn }) => fn.countAll<number>().as('rows'))
      .executeTakeFirstOrThrow();
  await addFinished(6_000, 40);
  await addFinished(10, 20, 2_000_000_000);
  await queue([1]);
  await sql`update deliveries set created_at = now() - interval '40 days' where state = 'queued'`.execute(db);
  await addJournalEntry(50);
  expect(await pruneDeliveries(db, given.gala.shardId, 30)).toBe(false);
  expect(await count()).toEqual({ rows: 6_011 });
  await sql`update journal_segments set at = now() where shard_id = ${given.gala.shardId}`.execute(db);
  expect(await pruneDeliveries(db, given.gala.shardId, 30)).toBe(true);
  expect(await pruneDeliveries(db, given.gala.shardId, 30)).toBe(false);
  expect(await count()).toEqual({ rows: 11 });
});

const addJournalEntry = (daysAgo: number) =>
  sql`
    insert into journal_segments
      (shard_id, event_id, partner_id, last_offset, count, kind, first_serial, last_serial, at)
    values (${given.gala.shardId}, ${given.gala.eventId}, ${given.gala.partnerId}, 1, 1, 'confirmed', 1, 1,
      ${new Date(Date.now() - daysAgo * DAY_MS)})`.execute(given.database.db);
