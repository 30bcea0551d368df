import { distribute, migrate } from '@floodgate/database';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { createCitusDatabase } from '../harness/citus-database.ts';
import { createFixture } from '../harness/fixture.ts';

// Citus takes less of what changes a table once it has spread it. TEST_CITUS_URL: the coordinator of a cluster.

const citusUrl = process.env['TEST_CITUS_URL'] ?? '';
const missing = citusUrl === '' ? ' (no TEST_CITUS_URL)' : '';

describe.skipIf(missing)(`migrations after tables were spread over a Citus cluster${missing}`, () => {
  test('0007 gives keys and events their modes', { timeout: 120_000 }, async () => {
    const database = await createCitusDatabase(citusUrl);
    const { db } = database;
    await migrate(db);
    await distribute(db, 4);
    for (const table of ['secret_keys', 'events'])
      await sql`alter table ${sql.table(table)} drop column mode`.execute(db);
    await sql`delete from kysely_migration where name = '0007-modes'`.execute(db);
    expect(await migrate(db)).toEqual(['0007-modes']);
    await createFixture(db, 'allow', 'test');
    await expect(sql`update events set mode = 'other'`.execute(db)).rejects.toMatchObject({ code: '23514' });
    await database.drop();
  });
});
