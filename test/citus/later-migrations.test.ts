import { distribute, migrate } from '@floodgate/database';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { createCitusDatabase } from '../harness/citus-database.ts';
import { createFixture } from '../harness/fixture.ts';

// Citus takes less of what changes a table once it has spread it. TEST_CITUS_URL: the coordinator of a cluster.

const citusUrl = process.env['TEST_CITUS_URL'] ?? '';
const missing = citusUrl === '' ? ' (no TEST_CITUS_URL)' : '';

// What 0006 and those after it have made.
// prettier-ignore
const MIGRATIONS = [
  '0006-cancellations', '0007-modes', '0008-consumers', '0009-passes', '0010-mail', '0011-webhooks',
  '0012-notices', '0013-functions', '0014-paused-by', '0015-mail-lags',
];
// prettier-ignore
const COLUMNS_OF_EVENTS = [
  'cancel_until', 'duplicate_scope',
  'starts_at', 'ends_at', 'venue', 'time_zone', 'language', 'reply_to',
];
// prettier-ignore
const FUNCTIONS = [
  'cancel_registrations', 'confirm_registrations', 'expire_holds',
  'lease_consumers', 'consumer_lags', 'oldest_news', 'webhook_delivered',
];
// prettier-ignore
const TABLES = [
  'journal_consumers', 'pass_keys', 'mail_deliveries', 'mail_suppressions', 'mail_rate_windows',
  'webhook_endpoints', 'webhook_secrets', 'webhook_attempts',
  'webhook_notices',
];

describe.skipIf(missing)(`migrations after tables were spread over a Citus cluster${missing}`, () => {
  test('0006 and those after it change what is spread', { timeout: 120_000 }, async () => {
    const database = await createCitusDatabase(citusUrl);
    const { db } = database;
    await migrate(db);
    await distribute(db, 4);
    for (const table of ['secret_keys', 'events'])
      await sql`alter table ${sql.table(table)} drop column mode`.execute(db);
    for (const column of COLUMNS_OF_EVENTS)
      await sql`alter table events drop column ${sql.ref(column)}`.execute(db);
    await sql`alter table partners drop column contact_email`.execute(db);
    for (const name of FUNCTIONS) await sql`drop function ${sql.ref(name)}`.execute(db);
    for (const name of TABLES) await sql`drop table ${sql.table(name)}`.execute(db);
    await sql`delete from kysely_migration where name > '0006'`.execute(db);
    expect(await migrate(db)).toEqual(MIGRATIONS);
    // The functions and tables have to be spread again.
    expect(await distribute(db, 4)).toBe(true);
    expect(await distribute(db, 4)).toBe(false);
    await createFixture(db, 'allow', 'test');
    await expect(sql`update events set mode = 'other'`.execute(db)).rejects.toMatchObject({ code: '23514' });
    await database.drop();
  });
});
