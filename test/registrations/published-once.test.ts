import type { Database } from '@floodgate/database';
import { changeRegistrations, expireHolds, reconcile, reserveBatch } from '@floodgate/registrations';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { finalizePending, journalOf } from '../harness/journal.ts';
import { countLockWaiters } from '../harness/lock-waiters.ts';
import { reservationOf } from '../harness/reservation.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { tablesOf } from '../harness/stored-tables.ts';

const { test, given } = eventTest({ own: 'draws operations, and compares whole tables' });

// Two transactions change the same held registration at the same time. The first holds its locks until the
// second waits for them.

test.override('ticket', { capacity: 1 });

let named: { partnerId: number; eventId: number; serial: number; passCode: number };
afterAll(async () => {
  expect(await reconcile(given.database.db)).toEqual([]);
});
beforeEach(async () => {
  const reservation = reservationOf(given.gala, given.ticketId, { holdSeconds: 60 });
  const [seat] = await reserveBatch(given.database.db, randomUUID(), [reservation]);
  if (seat?.kind !== 'registered') throw new Error('no seat');
  const { partnerId, eventId } = given.gala;
  named = { partnerId, eventId, serial: seat.serial, passCode: seat.passCode };
});

const CHANGES: Record<string, (db: Database) => Promise<unknown>> = {
  confirm: (db) => changeRegistrations(db, given.gala.shardId, 'confirmed', [named]),
  cancel: (db) => changeRegistrations(db, given.gala.shardId, 'cancelled', [{ ...named, deadline: null }]),
  expire: (db) => expireHolds(db, given.gala.shardId, 1_000),
  finalize: (db) => finalizePending(db, given.gala.shardId),
};
const CASES = [false, true].flatMap((isFinalized) =>
  Object.keys(CHANGES).flatMap((first) =>
    Object.keys(CHANGES).map((second) => ({ isFinalized, first, second })),
  ),
);

const endHold = () =>
  sql`
    update registrations set held_until = now()
    where shard_id = ${given.gala.shardId} and serial = ${named.serial}`.execute(given.database.db);

const published = async () =>
  (await journalOf(given.database.db, given.gala))
    .filter(({ serial }) => serial !== null)
    .map(({ kind }) => kind);

async function isCancelled(): Promise<boolean> {
  const row = tablesOf(given.database.db).selectFrom('registrations').select('cancelled_at');
  const { cancelled_at } = await row
    .where('shard_id', '=', given.gala.shardId)
    .where('serial', '=', named.serial)
    .executeTakeFirstOrThrow();
  return cancelled_at !== null;
}

describe.for(CASES)(
  'finalized before: $isFinalized, $first, then $second',
  ({ isFinalized, first, second }) => {
    test('each state is published once', async () => {
      if (isFinalized) await finalizePending(given.database.db, given.gala.shardId);
      if ([first, second].includes('expire')) await endHold();
      await using server = await given.database.openShard(given.gala.shardId);
      const transaction = await server.startTransaction().execute();
      await CHANGES[first]!(transaction);
      let hasEnded = false;
      const waiting = CHANGES[second]!(given.database.db).finally(() => (hasEnded = true));
      // Some pairs share no lock. In that case the second ends before the first commits.
      await waitUntil(
        'the second waits',
        async () => hasEnded || (await countLockWaiters(given.database.db)) === 1,
      );
      await transaction.commit().execute();
      const outcome = await waiting;
      await finalizePending(given.database.db, given.gala.shardId);
      // Repeated changes have no effect.
      for (const change of ['confirm', 'expire', 'finalize']) await CHANGES[change]!(given.database.db);

      const isConfirmed = [first, second].includes('confirm') && ![first, second].includes('expire');
      if (await isCancelled()) {
        const wasConfirmedFirst = first === 'confirm' && isConfirmed && isFinalized;
        expect(await published()).toEqual(wasConfirmedFirst ? ['confirmed', 'cancelled'] : ['cancelled']);
      } else expect(await published()).toEqual(['confirmed']);
      if (second === 'confirm') expect(outcome).toEqual([(await isCancelled()) ? 'too-late' : 'confirmed']);
    });
  },
);

describe.for([
  { first: 'cancel', second: 'finalize' },
  { first: 'finalize', second: 'cancel' },
])('a registration without a hold: $first, then $second', ({ first, second }) => {
  test('is confirmed before it is cancelled, or only cancelled', async () => {
    await given.useTicket({ capacity: 1 });
    const [seat] = await reserveBatch(given.database.db, randomUUID(), [
      reservationOf(given.gala, given.ticketId),
    ]);
    if (seat?.kind !== 'registered') throw new Error('no seat');
    named = { ...named, serial: seat.serial, passCode: seat.passCode };
    await using server = await given.database.openShard(given.gala.shardId);
    const transaction = await server.startTransaction().execute();
    await CHANGES[first]!(transaction);
    // Neither waits for the other.
    await CHANGES[second]!(given.database.db);
    await transaction.commit().execute();
    for (const _ of [1, 2]) await finalizePending(given.database.db, given.gala.shardId);
    expect(await published()).toEqual(['confirmed', 'cancelled']);
  });
});
