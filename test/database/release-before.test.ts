import { randomUUID } from 'node:crypto';
import { adoptShardKeys, type Database } from '@floodgate/database';
import { confirmBatches, failBatch, leaseDueBatches, reserveBatch } from '@floodgate/registrations';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { createFixture } from '../harness/fixture.ts';
import { createDatabaseOfReleaseBefore } from '../harness/release-before.ts';
import { readPage } from '../harness/read-page.ts';
import { reservationOf } from '../harness/reservation.ts';
import { runCli } from '../harness/service-process.ts';

// What processes of the release before may go on doing between `migrate` and `migrate --finish`.

const UNFINISHED = expect.stringContaining('run "migrate --finish"') as string;

/** How an API of the release before takes a batch's id away. */
const voidAsBefore = (db: Database) =>
  sql`
    insert into batches (id, state, size, first_serial, last_serial, relay_at, finished_at)
    values (${randomUUID()}::uuid, 'void', 0, 0, 0, now(), now()) on conflict (id) do nothing`.execute(db);

test('its keys are kept until the end, also where nobody has registered yet', async () => {
  await using database = await createDatabaseOfReleaseBefore();
  const migrate = (...options: string[]) => runCli({ DATABASE_URL: database.url }, 'migrate', ...options);
  await voidAsBefore(database.db);
  expect(await migrate()).toEqual({ code: 0, output: UNFINISHED });
  await voidAsBefore(database.db);
  expect(await migrate()).toEqual({ code: 0, output: UNFINISHED });
  expect(await migrate('--finish')).toEqual({ code: 0, output: 'nothing to do\n' });
  await expect(voidAsBefore(database.db)).rejects.toMatchObject({ code: '42P10' });
});

test('two may end it at once', async () => {
  await using database = await createDatabaseOfReleaseBefore();
  const { db, url } = database;
  const results = await Promise.all(
    [1, 2, 3].map(() => runCli({ DATABASE_URL: url }, 'migrate', '--finish')),
  );
  expect(results.map(({ code }) => code)).toEqual([0, 0, 0]);
  await adoptShardKeys(db);
  const { rows } = await sql<{ name: string }>`
    select indexrelid::regclass::text as name from pg_index
    where indrelid in ('batches'::regclass, 'tickets'::regclass) order by 1`.execute(db);
  expect(rows.map(({ name }) => name)).toEqual([
    'batches_failed',
    'batches_pkey',
    'batches_unwritten',
    'tickets_event',
    'tickets_pkey',
  ]);
});

/** `redrive` of the release before, which knows nothing of a journal. */
const redriveAsBefore = (db: Database, batchId: string) =>
  sql`
    update batches
    set state = 'pending', pending_since = now(), finished_at = null, failure = null, relay_at = now()
    where id = ${batchId} and state = 'failed'`.execute(db);

test.for(['of this release', 'of the release before'])(
  'what it redrives is written into the journal when a worker %s has confirmed it',
  async (worker) => {
    await using database = await createDatabaseOfReleaseBefore();
    const { db, url } = database;
    expect((await runCli({ DATABASE_URL: url }, 'migrate')).code).toBe(0);
    const fixture = await createFixture(db);
    const batchId = randomUUID();
    await reserveBatch(db, batchId, [reservationOf(fixture, await fixture.addTicket())]);
    expect(await failBatch(db, 0, batchId, '23514')).toBe(true);
    await redriveAsBefore(db, batchId);
    if (worker === 'of the release before')
      await sql`update batches set state = 'confirmed', finished_at = now() where id = ${batchId}`.execute(
        db,
      );
    expect(await leaseDueBatches(db, 0, 10)).toEqual([batchId]);
    await confirmBatches(db, { shardId: 0, batchIds: [batchId] });
    const { entries } = await readPage(db, fixture, 0, 10);
    expect(entries.map(({ kind }) => kind)).toEqual(['failed', 'confirmed']);
    expect((await runCli({ DATABASE_URL: url }, 'migrate', '--finish')).code).toBe(0);
    expect((await sql`select from pg_trigger where tgname = 'forget_place'`.execute(db)).rows).toEqual([]);
  },
);

test('shards are for a cluster: their number is refused on one Postgres, and nothing is changed', async () => {
  await using database = await createDatabaseOfReleaseBefore();
  expect(await runCli({ DATABASE_URL: database.url }, 'migrate', '--shards', '4')).toEqual({
    code: 2,
    output: 'floodgate: --shards: only on a Citus cluster; this Postgres has one shard\n',
  });
  const { rows } = await sql`select from kysely_migration`.execute(database.db);
  expect(rows).toHaveLength(2);
});
