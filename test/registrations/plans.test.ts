import { randomUUID } from 'node:crypto';
import { reserveBatch } from '@floodgate/registrations';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { createFixture, type Fixture } from '../harness/fixture.ts';
import { reservationOf } from '../harness/reservation.ts';

let database: TestDatabase;
let gala: Fixture;

beforeAll(async () => {
  database = await createTestDatabase();
  gala = await createFixture(database.db, 'reject');
});
afterAll(() => database.drop());

test('a batch reads what it wants by keys, of tables that Postgres has never analyzed', async () => {
  const { db } = database;
  const { shardId, partnerId, eventId } = gala;
  await sql`
    insert into tickets (shard_id, event_id, title, capacity, last_modified_by)
    select ${shardId}::integer, ${eventId}::integer, 'Standing', 1000, 'tests' from generate_series(1, 2000)`.execute(
    db,
  );
  await sql`
    insert into idempotency_keys (shard_id, partner_id, event_id, key, fingerprint, outcome)
    select ${shardId}::integer, ${partnerId}::integer, ${eventId}::integer, 'other ' || n, gen_random_uuid(), 'sold-out'
    from generate_series(1, 2000) n`.execute(db);
  const tickets = await db.selectFrom('tickets').select('id').limit(40).execute();
  const batch = () =>
    tickets.map(({ id }, index) =>
      reservationOf(gala, id, {
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
      // Each is read to be locked, and to be counted up, with versions of it that are not vacuumed yet.
      for (const { name, read } of rows) expect(read, name).toBeLessThanOrEqual(10 * tickets.length);
    });
});
