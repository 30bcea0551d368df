import { createLogger } from '@floodgate/service';
import { sql } from 'kysely';
import { randomUUID } from 'node:crypto';
import { afterEach, expect, onTestFinished } from 'vitest';
import { finalizeBatches } from '@floodgate/registrations';
import { commitBatch } from '../harness/committed-batch.ts';
import { eventTest } from '../harness/event-test.ts';
import { refuseToConfirm } from '../harness/poison.ts';

const { test, given } = eventTest({
  sharesEvent: true,
  own: 'changes the schema, the roles or the settings of its database',
});

// How the handler reacts if Postgres refuses a batch. Other tests run it in a worker.

const log = createLogger('worker', 'silent');

afterEach(() => sql`drop trigger if exists refuse on batches`.execute(given.database.db));

/** Finalizes two batches, of which Postgres refuses the first with this SQLSTATE. Returns the states of both. */
async function finalizeRefused(sqlState: string, isLastAttempt: boolean): Promise<string[]> {
  const [refused, neighbour] = [
    await commitBatch(given.database.db, given.gala),
    await commitBatch(given.database.db, given.gala),
  ];
  await refuseToConfirm(given.database.db, refused.batchId, sqlState);
  const finalize = finalizeBatches({ db: given.database.db, log });
  const batchIds = [refused.batchId, neighbour.batchId];
  await expect(
    finalize(
      { shardId: given.gala.shardId, batchIds },
      { isLastAttempt, signal: new AbortController().signal },
    ),
  ).rejects.toMatchObject({ code: sqlState });
  return [await refused.state(), await neighbour.state()];
}

test.each([
  ['what it is about', 'P0001'],
  ['a value', '22001'],
  ['a conflict', '23505'],
  ['a reason nobody foresaw', 'XX000'],
])(
  'a batch that Postgres refuses for %s is given up at the last attempt, and no earlier',
  async (_, state) => {
    expect(await finalizeRefused(state, false)).toEqual(['reserved', 'confirmed']);
    await sql`drop trigger refuse on batches`.execute(given.database.db);
    expect(await finalizeRefused(state, true)).toEqual(['failed', 'confirmed']);
  },
);

test.each([
  ['its disk is full', '53100'],
  ['it is read-only', '25006'],
  ['it has no time', '57014'],
  ['a row is locked', '55P03'],
  ['it found a deadlock', '40P01'],
])('no batch is given up because of Postgres itself: %s', async (_, state) => {
  expect(await finalizeRefused(state, true)).toEqual(['reserved', 'reserved']);
});

test('no more batches are asked for one by one once Postgres is out of something', async () => {
  const { db } = given.database;
  const batches = [await commitBatch(db, given.gala), await commitBatch(db, given.gala)];
  // A sequence counts the calls, because a rollback does not reset it. The first call is for all batches.
  await sql`create sequence confirmations`.execute(db);
  onTestFinished(async () => void (await sql`drop sequence confirmations cascade`.execute(db)));
  await sql`
    create or replace function refuse() returns trigger language plpgsql as $$
      begin
        if nextval('confirmations') = 1 then raise exception 'a bad batch'; end if;
        raise exception 'no memory' using errcode = '53200';
      end $$`.execute(db);
  await sql`
    create trigger refuse before update on batches for each row
    when (new.state = 'confirmed') execute function refuse()`.execute(db);
  const finalize = finalizeBatches({ db, log });
  const batchIds = batches.map(({ batchId }) => batchId);
  const context = { isLastAttempt: true, signal: new AbortController().signal };
  await expect(finalize({ shardId: given.gala.shardId, batchIds }, context)).rejects.toMatchObject({
    code: '53200',
  });
  const { rows } = await sql`select last_value from confirmations`.execute(db);
  expect(rows).toEqual([{ last_value: 2 }]);
  expect(await Promise.all(batches.map((batch) => batch.state()))).toEqual(['reserved', 'reserved']);
});

test('a shard whose head somebody holds keeps one of its jobs waiting, and no other shard', async () => {
  const { db } = given.database;
  const { shardId } = given.gala;
  const batches = [await commitBatch(db, given.gala), await commitBatch(db, given.gala)];
  const holder = await db.startTransaction().execute();
  onTestFinished(async () => void (holder.isCommitted || (await holder.rollback().execute())));
  await sql`select from journal_heads where shard_id = ${shardId} for update`.execute(holder);
  const finalize = finalizeBatches({ db, log });
  const context = { isLastAttempt: false, signal: new AbortController().signal };
  const [first, second] = batches.map(({ batchId }) => finalize({ shardId, batchIds: [batchId] }, context));
  expect(await finalize({ shardId: shardId + 1, batchIds: [randomUUID()] }, context)).toBe('done');
  expect(await second).toMatchObject({ snoozeMs: expect.any(Number) as number });
  expect(await finalize({ shardId, batchIds: [batches[1]!.batchId] }, context)).toMatchObject({
    snoozeMs: expect.any(Number) as number,
  });
  await holder.commit().execute();
  expect(await first).toBe('done');
  expect(await finalize({ shardId, batchIds: [batches[1]!.batchId] }, context)).toBe('done');
  expect(await Promise.all(batches.map((batch) => batch.state()))).toEqual(['confirmed', 'confirmed']);
});
