import { randomUUID } from 'node:crypto';
import type { Database } from '@floodgate/database';
import { findUncancelled, reserveBatch } from '@floodgate/registrations';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { eventTest } from '../harness/event-test.ts';
import { createFixture } from '../harness/fixture.ts';
import { finalizePending } from '../harness/journal.ts';
import { reservationOf } from '../harness/reservation.ts';
import { changeSeats } from '../waiting-list/drawn-operations.ts';

const { test, given } = eventTest({ sharesEvent: true, own: 'counts, empties or compares whole tables' });

test.override('event', { duplicatePolicy: 'reject' });

test('a batch reads what it wants by keys, of tables that Postgres has never analyzed', async () => {
  const { db } = given.database;
  const { shardId, partnerId, eventId } = given.gala;
  await sql`
    insert into tickets (shard_id, event_id, title, capacity, last_modified_by)
    select ${shardId}::integer, ${eventId}::integer, 'Standing', 1000, 'tests' from generate_series(1, 2000)`.execute(
    db,
  );
  await sql`
    insert into idempotency_keys (shard_id, partner_id, event_id, key, fingerprint, outcomes, serials)
    select ${shardId}::integer, ${partnerId}::integer, ${eventId}::integer, 'other ' || n, gen_random_uuid(), '{sold-out}', '{null}'
    from generate_series(1, 2000) n`.execute(db);
  const tickets = await db.selectFrom('tickets').select('id').limit(40).execute();
  const batch = () =>
    tickets.map(({ id }, index) =>
      reservationOf(given.gala, id, {
        attendeeDigest: randomUUID(),
        idempotency: index % 2 ? { key: randomUUID(), fingerprint: randomUUID() } : null,
      }),
    );
  for (let round = 0; round < 3; round += 1)
    await db.transaction().execute(async (transaction) => {
      const outcomes = await reserveBatch(transaction, randomUUID(), batch());
      expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['registered']));
      const { rows } = await sql<{ name: string; read: number }>`
        select relname as name, seq_tup_read + coalesce(idx_tup_fetch, 0) as read from pg_stat_xact_user_tables
        where relname in ('tickets', 'idempotency_keys', 'registrations')`.execute(transaction);
      // Each ticket is read for the lock and for the update, with row versions that are not vacuumed yet.
      for (const { name, read } of rows) expect(read, name).toBeLessThanOrEqual(10 * tickets.length);
    });
});

test('a reset reads the registrations of its event only', async () => {
  const { db } = given.database;
  const trial = await createFixture(db, 'allow', 'test');
  const ticketId = await trial.addTicket();
  const batch = [1, 2, 3].map(() => reservationOf(trial, ticketId));
  await reserveBatch(db, randomUUID(), batch);
  await finalizePending(db, trial.shardId);
  await reserveBatch(db, randomUUID(), batch);
  // Batches of another event, which are not in the journal either.
  for (let count = 0; count < 20; count += 1)
    await reserveBatch(db, randomUUID(), [reservationOf(given.gala, await given.gala.addTicket())]);
  await sql`
    insert into registrations (
      shard_id, batch_id, position, partner_id, event_id, ticket_id, pass_code, full_name, email_address, attendee_digest, held_until
    )
    select ${trial.shardId}::integer, gen_random_uuid(), 1, ${trial.partnerId}::integer, ${given.gala.eventId}::integer,
      1, 1000000000, 'Jane Doe', 'jane@example.com', case when n % 2 = 0 then gen_random_uuid() end, now() + interval '1 hour'
    from generate_series(1, 5000) n`.execute(db);
  for (const isAnalyzed of [false, true]) {
    if (isAnalyzed) await sql`analyze registrations`.execute(db);
    await db.transaction().execute(async (transaction) => {
      expect((await findUncancelled(transaction, trial, 0, 500)).found).toHaveLength(2 * batch.length);
      const { rows } = await sql<{ read: number }>`
        select seq_tup_read + coalesce(idx_tup_fetch, 0) as read from pg_stat_xact_user_tables
        where relname = 'registrations'`.execute(transaction);
      expect(rows[0]!.read).toBeLessThanOrEqual(10 * batch.length);
    });
  }
});

test('a hold does not read what its partner holds of the ticket', async () => {
  const { db } = given.database;
  const { shardId, partnerId } = given.gala;
  const ticketId = await given.gala.addTicket({ capacity: 10_000 });
  const batchOf = (size: number) =>
    Array.from({ length: size }, () => reservationOf(given.gala, ticketId, { holdSeconds: 60 }));
  for (let round = 0; round < 5; round += 1)
    await reserveBatch(db, randomUUID(), batchOf(500), { holdSharePercent: 20 });
  const batch = batchOf(3);
  for (const isAnalyzed of [false, true]) {
    if (isAnalyzed) await sql`analyze registrations, held_seats`.execute(db);
    await db.transaction().execute(async (transaction) => {
      const outcomes = await reserveBatch(transaction, randomUUID(), batch, { holdSharePercent: 30 });
      expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['registered']));
      const { rows } = await sql<{ read: number }>`
        select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as read from pg_stat_xact_user_tables
        where relname in ('registrations', 'held_seats')`.execute(transaction);
      expect(rows[0]!.read).toBeLessThanOrEqual(10 * batch.length);
    });
  }
  // Each change inserted a row, and the next hold has replaced them by one.
  const { rows } = await sql<{ seats: number }>`
    select seats from held_seats
    where shard_id = ${shardId} and ticket_id = ${ticketId} and partner_id = ${partnerId}`.execute(db);
  expect(rows).toEqual([{ seats: 2_006 }]);
});

test('a confirmation of holds reads their seats only', async () => {
  const { db } = given.database;
  const { shardId, partnerId, eventId } = given.gala;
  const ticketId = await given.gala.addTicket();
  const size = 100;
  await sql`
    insert into registrations (
      shard_id, batch_id, position, partner_id, event_id, ticket_id, pass_code, full_name, email_address, held_until
    )
    select ${shardId}::integer, gen_random_uuid(), 1, ${partnerId}::integer, ${eventId}::integer,
      ${ticketId}::integer + 1, 1000000000, 'Jane Doe', 'jane@example.com', now() + interval '1 hour'
    from generate_series(1, 5000) n`.execute(db);
  for (const isAnalyzed of [false, true]) {
    if (isAnalyzed) await sql`analyze registrations`.execute(db);
    const holdId = randomUUID();
    const seats = Array.from({ length: size }, () =>
      reservationOf(given.gala, ticketId, { holdSeconds: 60, holdId }),
    );
    await reserveBatch(db, randomUUID(), seats);
    await db.transaction().execute(async (transaction) => {
      const held = transaction.selectFrom('registrations').where('shard_id', '=', shardId);
      const rows = await held.where('hold_id', '=', holdId).select('serial').execute();
      const readBefore = await countReads(transaction);
      const serials = rows.map(({ serial }) => serial);
      expect(await changeSeats(transaction, shardId, 'confirmed', holdId, serials)).toBe('confirmed');
      expect((await countReads(transaction)) - readBefore).toBeLessThanOrEqual(10 * size);
    });
  }
});

/** Returns how many registrations the connection has read. */
async function countReads(db: Database): Promise<number> {
  const { rows } = await sql<{ read: number }>`
    select seq_tup_read + coalesce(idx_tup_fetch, 0) as read from pg_stat_xact_user_tables
    where relname = 'registrations'`.execute(db);
  return rows[0]!.read;
}
