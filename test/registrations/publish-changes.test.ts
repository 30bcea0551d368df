import { randomUUID } from 'node:crypto';
import {
  changeRegistrations,
  confirmBatches,
  expireHolds,
  failBatch,
  reconcile,
  redriveBatches,
  relayDueBatches,
  reserveBatch,
  type ShardBatches,
} from '@floodgate/registrations';
import { sql } from 'kysely';
import { afterAll, expect, onTestFinished } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { finalizePending, isOutboxEmpty, journalOf, pendingBatches } from '../harness/journal.ts';
import { endHolds, reservationOf } from '../harness/reservation.ts';
import { enqueue, TestQueue } from '../harness/test-queue.ts';

const { test, given } = eventTest({ own: 'counts, empties or compares whole tables' });

test.override('ticket', { capacity: 10 });

afterAll(async () => {
  expect(await reconcile(given.database.db)).toEqual([]);
});

/** Reserves seats. Returns the names of their registrations. */
async function reserve(count: number, holdSeconds?: number) {
  const { partnerId, eventId } = given.gala;
  const reservations = Array.from({ length: count }, () =>
    reservationOf(given.gala, given.ticketId, holdSeconds === undefined ? {} : { holdSeconds }),
  );
  const outcomes = await reserveBatch(given.database.db, randomUUID(), reservations);
  return outcomes.map((outcome) => {
    if (outcome.kind !== 'registered') throw new Error(outcome.kind);
    return { partnerId, eventId, serial: outcome.serial, passCode: outcome.passCode, deadline: null };
  });
}

const finalize = () => finalizePending(given.database.db, given.gala.shardId);
const drain = () => confirmBatches(given.database.db, { shardId: given.gala.shardId, batchIds: [] });

async function published(): Promise<string[]> {
  const entries = await journalOf(given.database.db, given.gala);
  return entries.map(({ kind, serial }) => (serial === null ? kind : `${kind} ${serial}`));
}

test('while the journal head is held, seats are cancelled, confirmed, expired and sold', async () => {
  await given.useTicket({ capacity: 4 });
  const [first, second] = await reserve(2, 60);
  const [third, fourth] = await reserve(2);
  await finalize();
  const holder = await given.database.db.startTransaction().execute();
  onTestFinished(async () => void (holder.isCommitted || (await holder.rollback().execute())));
  await sql`select from journal_heads where shard_id = ${given.gala.shardId} for update`.execute(holder);
  const { shardId } = given.gala;
  expect(await changeRegistrations(given.database.db, shardId, 'cancelled', [third!])).toEqual(['cancelled']);
  expect(await changeRegistrations(given.database.db, shardId, 'confirmed', [first!])).toEqual(['confirmed']);
  await endHolds(given.database.db, given.gala);
  expect(await expireHolds(given.database.db, shardId, 1_000)).toBe(1);
  const [fifth, sixth] = await reserve(2);
  await holder.commit().execute();
  await finalize();
  const serials = (...named: (typeof first)[]) => named.map((one) => one!.serial);
  expect((await published()).toSorted()).toEqual(
    [
      ...serials(first, third, fourth, fifth, sixth).map((serial) => `confirmed ${serial}`),
      ...serials(second, third).map((serial) => `cancelled ${serial}`),
      'sold_out',
    ].toSorted(),
  );
});

test('changes that a pass did not commit are published once, by a later one', async () => {
  const [kept, input] = await reserve(2, 60);
  await finalize();
  await changeRegistrations(given.database.db, given.gala.shardId, 'confirmed', [kept!]);
  await changeRegistrations(given.database.db, given.gala.shardId, 'cancelled', [input!]);
  await using server = await given.database.openShard(given.gala.shardId);
  const crashed = await server.startTransaction().execute();
  await confirmBatches(crashed, { shardId: given.gala.shardId, batchIds: [] });
  await crashed.rollback().execute();
  expect(await published()).toEqual([]);
  for (const _ of [1, 2]) await drain();
  expect(await published()).toEqual([`confirmed ${kept!.serial}`, `cancelled ${input!.serial}`]);
  expect(await isOutboxEmpty(given.database.db, given.gala.shardId)).toBe(true);
});

test('a pass publishes a bounded number of changes, and says if there may be more', async () => {
  const all = await reserve(3, 60);
  await finalize();
  for (const one of all) await changeRegistrations(given.database.db, given.gala.shardId, 'cancelled', [one]);
  const none = { shardId: given.gala.shardId, batchIds: [] };
  expect(await confirmBatches(given.database.db, none, 2)).toBe(true);
  expect(await published()).toHaveLength(2);
  expect(await confirmBatches(given.database.db, none, 2)).toBe(false);
  expect(await published()).toEqual(all.map(({ serial }) => `cancelled ${serial}`));
});

test.for([
  { name: 'is pending', hasFailed: false },
  { name: 'has failed', hasFailed: true },
])('a hold that is confirmed while its batch $name is published with the batch', async ({ hasFailed }) => {
  const [kept, input] = await reserve(2, 60);
  const { shardId, batchIds } = await pendingBatches(given.database.db, given.gala.shardId);
  if (hasFailed)
    for (const batchId of batchIds) await failBatch(given.database.db, shardId, batchId, 'XX000');
  await changeRegistrations(given.database.db, shardId, 'confirmed', [kept!, input!]);
  await changeRegistrations(given.database.db, shardId, 'cancelled', [input!]);
  await drain();
  expect(await published()).toEqual([`cancelled ${input!.serial}`]);
  if (hasFailed) await redriveBatches(given.database.db, { shardId, limit: 100 });
  await finalize();
  expect(await published()).toEqual([`cancelled ${input!.serial}`, `confirmed ${kept!.serial}`]);
});

test('a ticket that is sold out and free again before it is published is not published', async () => {
  await given.useTicket({ capacity: 1 });
  const [seat] = await reserve(1);
  await changeRegistrations(given.database.db, given.gala.shardId, 'cancelled', [seat!]);
  await finalize();
  expect(await published()).toEqual([`cancelled ${seat!.serial}`]);
  await reserve(1);
  await finalize();
  expect((await published()).at(-1)).toBe('sold_out');
});

test('the relay publishes changes that no job was sent for, and reconcile accepts changes that wait', async () => {
  const [seat] = await reserve(1);
  await finalize();
  await changeRegistrations(given.database.db, given.gala.shardId, 'cancelled', [seat!]);
  expect(await reconcile(given.database.db)).toEqual([]);
  await sql`update changes set at = now() - interval '2 s'`.execute(given.database.db);
  const queue = await TestQueue.open(given.database.url);
  onTestFinished(() => queue.close());
  const producer = await queue.produce();
  const relay = {
    db: given.database.db,
    enqueue: (batches: ShardBatches) => enqueue(producer, batches),
    finalize: async (batches: ShardBatches) => {
      await confirmBatches(given.database.db, batches);
      return 'done' as const;
    },
  };
  await relayDueBatches(relay);
  expect(await published()).toEqual([`confirmed ${seat!.serial}`, `cancelled ${seat!.serial}`]);
});

test('a change that nobody publishes is a difference of the books', async () => {
  const [seat] = await reserve(1);
  await finalize();
  await changeRegistrations(given.database.db, given.gala.shardId, 'cancelled', [seat!]);
  await sql`update changes set at = now() - interval '1 h'`.execute(given.database.db);
  expect(await reconcile(given.database.db)).toMatchObject([
    { problem: expect.stringContaining('cancelled') as string },
  ]);
  await drain();
});
