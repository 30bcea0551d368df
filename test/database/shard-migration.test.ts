import { randomUUID } from 'node:crypto';
import { connect, type Database } from '@floodgate/database';
import * as initial from '@floodgate/database/schema/migrations/0001-initial';
import * as audit from '@floodgate/database/schema/migrations/0002-audit';
import { readJournal } from '@floodgate/journal';
import { confirmBatches, leaseDueBatches, reconcile, reserveBatch } from '@floodgate/registrations';
import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { withDatabase } from '../harness/database-url.ts';
import { reservationOf } from '../harness/reservation.ts';
import { runCli } from '../harness/service-process.ts';

// An installation of the release before, with a million registrations, becomes one with shards and a journal, while an API of
// that release goes on selling. Nothing is lost, and everything gets its place in the journal.

const BATCHES = 1_000;
const PER_BATCH = 1_000;
const EVENT = { shardId: 0, partnerId: 1, eventId: 1001 };
const NAME = `floodgate_test_migration_${randomUUID().slice(0, 8)}`;

let server: Database;
let db: Database;
let url: string;

beforeAll(async () => {
  const serverUrl = inject('postgresUrl');
  server = connect({ connectionString: serverUrl, applicationName: 'tests', maxConnections: 1 });
  await sql`create database ${sql.id(NAME)}`.execute(server);
  url = withDatabase(serverUrl, NAME);
  db = connect({ connectionString: url, applicationName: 'tests', maxConnections: 3 });
  const released = { '0001-initial': initial, '0002-audit': audit };
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(released) } });
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
  await sql`insert into partners (name) values ('Gala Ltd')`.execute(db);
  await sql`insert into events (name, pass_prefix) values ('Gala', 'GALA')`.execute(db);
  await sql`
    insert into tickets (event_id, title, capacity, last_modified_by) values (1001, 'Standing', 10000000, 'test')`.execute(
    db,
  );
  await store();
}, 120_000);

afterAll(async () => {
  await db.destroy();
  await sql`drop database ${sql.id(NAME)} with (force)`.execute(server);
  await server.destroy();
});

/** A million registrations, nearly all of them confirmed long ago. */
async function store(): Promise<void> {
  await sql`
    with batch as (select gen_random_uuid() as id, n from generate_series(1, ${BATCHES}::integer) n),
    registered as (
      insert into registrations (
        batch_id, position, ticket_id, event_id, partner_id, pass_code, full_name, email_address
      )
      select id, position, 1, 1001, 1, 1000000000 + position, 'Jane Doe', 'jane.doe@example.com'
      from batch cross join generate_series(1, ${PER_BATCH}::integer) position
      order by n, position
      returning batch_id, serial
    )
    insert into batches (id, state, size, first_serial, last_serial, finished_at, relay_at)
    select batch_id, 'confirmed', count(*), min(serial), max(serial), now(), now() - interval '1 d'
    from registered group by batch_id`.execute(db);
  await sql`update batches set state = 'pending', finished_at = null where first_serial > 999000`.execute(db);
  await sql`update tickets set taken = ${BATCHES * PER_BATCH}`.execute(db);
}

/** What an API of the release before sends for a registration, and to settle a batch's fate. */
async function sellAsBefore(): Promise<void> {
  const batchId = randomUUID();
  await sql`
    with ticket as (select id, event_id from tickets where id = 1 and event_id = 1001 for no key update),
    registered as (
      insert into registrations (
        batch_id, position, ticket_id, event_id, partner_id, pass_code, attendee_digest,
        full_name, email_address, phone_number, gender, table_or_seat, extra_data_1, extra_data_2
      )
      select ${batchId}::uuid, 1, id, event_id, 1, 4829137450, null, 'Jane Doe', 'jane@example.com', null, null, null, null, null
      from ticket
      returning serial, ticket_id
    ),
    counted as (update tickets set taken = taken + 1 where id in (select ticket_id from registered)),
    remember as (
      insert into idempotency_keys (partner_id, event_id, key, fingerprint, outcome, serial)
      select 1, 1001, ${batchId}, ${batchId}::uuid, 'registered', serial from registered
    )
    insert into batches (id, size, first_serial, last_serial, relay_at)
    select ${batchId}::uuid, 1, serial, serial, now() from registered`.execute(db);
  await sql`
    insert into batches (id, state, size, first_serial, last_serial, relay_at, finished_at)
    values (${randomUUID()}::uuid, 'void', 0, 0, 0, now(), now()) on conflict (id) do nothing`.execute(db);
  const { rows } = await sql`
    select r.serial from registrations r join batches b on b.id = r.batch_id
    where r.serial = (select first_serial from batches where id = ${batchId}::uuid)`.execute(db);
  expect(rows).toHaveLength(1);
}

const migrate = (...options: string[]) => runCli({ DATABASE_URL: url }, 'migrate', ...options);

test('an API of the release before goes on selling, and every registration gets into the journal', async () => {
  const migrating = migrate();
  const over = new AbortController();
  void migrating.finally(() => over.abort());
  let sold = 0;
  for (; !over.signal.aborted; sold++) await sellAsBefore();
  const { code, output } = await migrating;
  expect([code, output]).toEqual([0, expect.stringContaining('migrated: 0003-shards')]);
  expect(output).toContain('run "migrate --finish"');
  expect(sold).toBeGreaterThan(0);

  // It runs on beside an API of this release, until the last of its kind has stopped.
  await sellAsBefore();
  const ours = reservationOf(EVENT, 1);
  expect(await reserveBatch(db, randomUUID(), [ours])).toMatchObject([{ kind: 'registered' }]);
  await sellAsBefore();
  expect(await migrate('--finish')).toEqual({ code: 0, output: 'nothing to do\n' });
  expect(await reserveBatch(db, randomUUID(), [ours])).toMatchObject([{ kind: 'registered' }]);

  for (let batchIds = ['first']; batchIds.length > 0;) {
    batchIds = await leaseDueBatches(db, 0, 100);
    await confirmBatches(db, { shardId: 0, batchIds });
    await sql`update batches set relay_at = now() where journal_offset is null`.execute(db);
  }
  const total = BATCHES * PER_BATCH + sold + 4;
  const { rows } =
    await sql`select sum(count) as entries, max(last_offset) as last from journal_segments`.execute(db);
  expect(rows).toEqual([{ entries: total, last: total }]);
  const page = await readJournal(db, EVENT, total - 3, 1_000);
  expect(page).toMatchObject({ entries: { length: 3 }, cursor: total, more: false });
  expect(await reconcile(db)).toEqual([]);
}, 120_000);
