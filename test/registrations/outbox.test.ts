import { randomUUID } from 'node:crypto';
import {
  confirmBatches,
  countStates,
  failBatch,
  leaseDueBatches,
  listFailedBatches,
  readBacklog,
  redriveBatches,
} from '@floodgate/registrations';
import { type BatchState, type Database } from '@floodgate/database';
import { sql, type InsertObject, type RawBuilder } from 'kysely';
import { afterAll, beforeEach, expect } from 'vitest';
import { databaseTest } from '../harness/database-test.ts';
import { tablesOf, type StoredTables } from '../harness/stored-tables.ts';

const { test, given } = databaseTest({ own: 'counts, empties or compares whole tables' });

// The statements of the outbox, each tested alone: which batches a statement changes, and which it does not.

/** The shard's server, which stores the batches. */
let server: Database;

test.beforeAll(async () => {
  server = await given.database.openShard(0);
});
afterAll(async () => {
  await server.destroy();
});
beforeEach(() => sql`truncate batches`.execute(given.database.db));

/** Runs the work in one transaction, in which now() does not change. */
const inOneMoment = <Result>(work: (db: Database) => Promise<Result>): Promise<Result> =>
  server.transaction().execute((transaction) => work(transaction));

const ago = (seconds: number): RawBuilder<Date> => sql<Date>`now() - make_interval(secs => ${seconds})`;

const FINISHED: BatchState[] = ['confirmed', 'failed'];

/** Adds a pending batch that is due, with these columns changed. Returns its id. */
async function addBatch(
  db: Database,
  differing: Partial<InsertObject<StoredTables, 'batches'>> = {},
): Promise<string> {
  const id = randomUUID();
  const batch = { id, size: 1, first_serial: 1, last_serial: 1, relay_at: ago(0), ...differing };
  await tablesOf(db).insertInto('batches').values(batch).execute();
  return id;
}

const addInState = (db: Database, states: BatchState[]) =>
  Promise.all(
    states.map((state) => addBatch(db, { state, finished_at: ago(60), failure: state, journal_offset: 0 })),
  );

const rows = (db: Database) => tablesOf(db).selectFrom('batches').selectAll().orderBy('id').execute();

async function stateOf(db: Database, id: string): Promise<BatchState> {
  const batch = tablesOf(db).selectFrom('batches').select('state').where('id', '=', id);
  return (await batch.executeTakeFirstOrThrow()).state;
}

async function dueInSeconds(db: Database, id: string): Promise<number> {
  const dueIn = sql<number>`extract(epoch from relay_at - now())::float8`.as('seconds');
  const batch = tablesOf(db).selectFrom('batches').select(dueIn).where('id', '=', id);
  return (await batch.executeTakeFirstOrThrow()).seconds;
}

/** Leases the only batch. Returns for how many seconds. */
async function leaseAgain(db: Database, id: string): Promise<number> {
  await sql`update batches set relay_at = now()`.execute(db);
  expect(await leaseDueBatches(db, 0, 1)).toEqual([id]);
  return dueInSeconds(db, id);
}

test('a lease lasts twice as long as the one before, up to about five minutes', () =>
  inOneMoment(async (db) => {
    const id = await addBatch(db);
    const seconds: number[] = [];
    while (seconds.length < 8) seconds.push(await leaseAgain(db, id));
    expect(seconds).toEqual([10, 20, 40, 80, 160, 320, 320, 320]);
  }));

test('leased is what is pending and due, what has waited longest first, as many as were asked for', () =>
  inOneMoment(async (db) => {
    const due = (seconds: number) => addBatch(db, { relay_at: ago(seconds) });
    const [late, last, first, early] = [await due(3), await due(0), await due(9), await due(6)];
    await addBatch(db, { relay_at: ago(-0.001) });
    await addInState(db, FINISHED);
    // The index returns the batches in this order, but Postgres does not have to use it.
    await sql`set local enable_indexscan = off`.execute(db);
    expect((await leaseDueBatches(db, 0, 2)).toSorted()).toEqual([first, early].toSorted());
    expect((await leaseDueBatches(db, 0, 100)).toSorted()).toEqual([late, last].toSorted());
    expect(await leaseDueBatches(db, 0, 100)).toEqual([]);
  }));

test('two relays at once never lease the same batch, and none waits for the other', async () => {
  const ids = await Promise.all([1, 2, 3].map(() => addBatch(given.database.db)));
  await inOneMoment(async (relay) => {
    const leased = await leaseDueBatches(relay, 0, 2);
    const others = await inOneMoment(async (db) => {
      await sql`set local lock_timeout = '5 s'`.execute(db);
      return leaseDueBatches(db, 0, 100);
    });
    expect([leased.length, others.length]).toEqual([2, 1]);
    expect([...leased, ...others].toSorted()).toEqual(ids.toSorted());
  });
});

test('what is finished is neither confirmed nor failed nor leased any more', () =>
  inOneMoment(async (db) => {
    const ids = await addInState(db, FINISHED);
    const before = await rows(db);
    await confirmBatches(db, { shardId: 0, batchIds: ids });
    for (const id of ids) expect(await failBatch(db, 0, id, 'too late')).toBe(false);
    expect(await rows(db)).toEqual(before);
  }));

test('what is pending is confirmed or failed, and only what was asked for', () =>
  inOneMoment(async (db) => {
    const [confirmed, failed, pending] = await Promise.all([1, 2, 3].map(() => addBatch(db)));
    await confirmBatches(db, { shardId: 0, batchIds: [confirmed!] });
    expect(await failBatch(db, 0, failed!, '23514')).toBe(true);
    const states = [confirmed, failed, pending].map((id) => stateOf(db, id!));
    expect(await Promise.all(states)).toEqual(['confirmed', 'failed', 'pending']);
  }));

test('redriven are failed batches, the oldest first, as many as were asked for, and they are due at once', () =>
  inOneMoment(async (db) => {
    const failed = { state: 'failed', failure: '23514', relay_at: ago(-300) } as const;
    const [older, young, oldest] = [
      await addBatch(db, { ...failed, created_at: ago(60) }),
      await addBatch(db, { ...failed, created_at: ago(30) }),
      await addBatch(db, { ...failed, created_at: ago(90) }),
    ];
    const others = await addInState(db, ['confirmed']);
    await addBatch(db, { relay_at: ago(-300) });
    expect((await redriveBatches(db, { shardId: 0, limit: 2 })).toSorted()).toEqual(
      [older, oldest].toSorted(),
    );
    expect((await leaseDueBatches(db, 0, 100)).toSorted()).toEqual([older, oldest].toSorted());
    for (const batchId of [...others, older]) {
      expect(await redriveBatches(db, { shardId: 0, batchIds: [batchId], limit: 100 })).toEqual([]);
    }
    expect(await stateOf(db, young)).toBe('failed');
    expect(await redriveBatches(db, { shardId: 0, batchIds: [young], limit: 100 })).toEqual([young]);
  }));

test('only the batch that was named is redriven', () =>
  inOneMoment(async (db) => {
    const [named, other] = await addInState(db, ['failed', 'failed']);
    expect(await redriveBatches(db, { shardId: 0, batchIds: [named!], limit: 100 })).toEqual([named]);
    expect(await stateOf(db, other!)).toBe('failed');
  }));

test('what has failed is listed, the oldest first, with whose it is and why', async () => {
  const { db } = given.database;
  const failed = { state: 'failed', failure: '23514' } as const;
  const young = await addBatch(db, { ...failed, finished_at: ago(60), event_id: 1001, size: 3 });
  const old = await addBatch(db, { ...failed, finished_at: ago(3_600), failure: null, event_id: 1002 });
  await addInState(db, ['pending', 'confirmed']);
  const all = await listFailedBatches(db, { limit: 10 });
  expect(all.away).toEqual([]);
  expect(all.failed).toMatchObject([
    { batchId: old, eventIds: [1002], reason: null },
    { batchId: young, eventIds: [1001], registrations: 3, reason: '23514' },
  ]);
  expect(all.failed[1]!.ageMs).toBeGreaterThanOrEqual(60_000);
  expect(all.failed[1]!.ageMs).toBeLessThan(120_000);
  expect((await listFailedBatches(db, { limit: 1 })).failed).toMatchObject([{ batchId: old }]);
  expect((await listFailedBatches(db, { eventId: 1001, limit: 9 })).failed).toMatchObject([
    { batchId: young },
  ]);
  expect(await redriveBatches(db, { shardId: 0, eventId: 1001, limit: 9 })).toEqual([young]);
  expect(await countStates(db, [young, old])).toEqual({ pending: 1, confirmed: 0, failed: 1 });
});

test('the backlog counts what is pending and what has failed, and tells how long the oldest has waited', async () => {
  const { db } = given.database;
  expect(await readBacklog(db)).toEqual({
    pendingBatches: 0,
    pendingChanges: 0,
    failedBatches: 0,
    oldestPendingMs: null,
  });
  for (const seconds of [60, 3_600]) await addBatch(db, { pending_since: ago(seconds) });
  await addInState(db, [...FINISHED, 'failed']);
  const { oldestPendingMs, ...counts } = await readBacklog(db);
  expect(counts).toEqual({ pendingBatches: 2, pendingChanges: 0, failedBatches: 2 });
  expect(oldestPendingMs).toBeGreaterThanOrEqual(3_600_000);
});
