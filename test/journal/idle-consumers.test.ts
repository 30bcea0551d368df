import { addConsumer, leaseConsumers, readLags, releaseCaughtUp } from '@floodgate/journal';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { rowsRead } from '../harness/rows-read.ts';
import { confirmSome } from '../harness/webhooks.ts';

const { test, given } = eventTest({ sharesEvent: true, own: 'counts, empties or compares whole tables' });

// Polling for consumers costs what there is to deliver, not what consumers there are. Counted in rows,
// because times vary.

const IDLE = 1_000;
const FEW = 20;

test.override('ticket', { capacity: 100_000 });

test.beforeAll(async () => {
  await confirmSome(given.database.db, given.gala, given.ticketId, 5);
  const { shardId, eventId, partnerId } = given.gala;
  // Half of them read other events, half other partners of the same event.
  await sql`
    insert into journal_consumers (shard_id, id, kind, event_id, partner_id)
    select ${shardId}, gen_random_uuid(), 'webhook', ${eventId} + (number % 2) * number, ${partnerId} + number
    from generate_series(1, ${IDLE}::integer) as number`.execute(given.database.db);
  for (const consumer of await lease(IDLE)) await releaseCaughtUp(given.database.db, consumer);
  await sql`analyze journal_consumers, journal_segments`.execute(given.database.db);
});

const lease = (limit = 50, db = given.database.db) =>
  leaseConsumers(db, given.gala.shardId, 'webhook', limit);

const costOf = async (work: Parameters<typeof rowsRead>[1]) => ({
  consumers: await rowsRead(given.database.url, work, 'journal_consumers'),
  segments: await rowsRead(given.database.url, work, 'journal_segments'),
});

test('with nothing new, a poll reads no consumer', async () => {
  const { consumers, segments } = await costOf(async (db) => expect(await lease(50, db)).toEqual([]));
  expect(consumers).toBeLessThan(FEW);
  expect(segments).toBeLessThan(FEW);
});

test('with news for one consumer, a poll reads that one', async () => {
  const { shardId, eventId, partnerId } = given.gala;
  const { id } = await addConsumer(given.database.db, { shardId, kind: 'webhook', eventId, partnerId });
  const [added] = await lease();
  await releaseCaughtUp(given.database.db, { ...added!, newsOffset: null });
  await confirmSome(given.database.db, given.gala, given.ticketId);
  const { consumers, segments } = await costOf(async (db) => {
    const leased = await lease(50, db);
    expect(leased.map((consumer) => consumer.id)).toEqual([id]);
    // The next count leases it again.
    await sql`update journal_consumers set lease = null, leased_until = null
      where shard_id = ${shardId} and id = ${id}`.execute(db);
  });
  expect(consumers).toBeLessThan(FEW);
  expect(segments).toBeLessThan(FEW);
});

test('news for another partner wakes nobody, and its scan reads each new segment a few times', async () => {
  const stranger = await createFixture(given.database.db);
  await lease();
  const count = 30;
  for (let index = 0; index < count; index += 1)
    await confirmSome(given.database.db, { ...given.gala, partnerId: stranger.partnerId }, given.ticketId);
  const { consumers, segments } = await costOf(async (db) => expect(await lease(50, db)).toEqual([]));
  expect(consumers).toBeLessThan(FEW);
  expect(segments).toBeLessThan(count * 4 + FEW);
});

test('the lag reads each consumer once, and the journal for those that are behind', async () => {
  const { consumers, segments } = await costOf(async (db) => {
    const { webhook } = await readLags(db);
    expect(webhook!.consumers).toBeGreaterThanOrEqual(IDLE);
  });
  expect(consumers).toBeLessThan(2 * IDLE + 2 * FEW);
  // One is behind. Postgres scans a table as small as this one.
  expect(segments).toBeLessThan(100);
});
