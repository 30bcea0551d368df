import { randomBytes } from 'node:crypto';
import { connect, type Database } from '@floodgate/database';
import { sql } from 'kysely';
import { inject } from 'vitest';
import { TEMPLATE_DATABASE, withDatabase } from './database-url.ts';
import { grantServiceRoles } from './service-roles.ts';
import { waitUntil } from './wait-until.ts';

/** A migrated database that belongs to one test file. */
export interface TestDatabase {
  url: string;
  db: Database;
  /** Drops the database. Fails where somebody is still connected: that is a leaked pool. */
  drop(): Promise<void>;
}

/** Clones the template. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = inject('postgresUrl');
  const name = `floodgate_test_${randomBytes(6).toString('hex')}`;
  const server = connect({ connectionString: serverUrl, applicationName: 'tests', maxConnections: 1 });
  await sql`create database ${sql.id(name)} template ${sql.id(TEMPLATE_DATABASE)}`.execute(server);
  const url = withDatabase(serverUrl, name);
  const db = connect({ connectionString: url, applicationName: 'tests', maxConnections: 5 });
  // A copy of a database has the privileges on everything in it, but not those on the database itself.
  await grantServiceRoles(db);
  return {
    url,
    db,
    drop: async () => {
      await db.destroy();
      await waitUntil(`nobody is connected to ${name}`, async () => {
        const { rows } = await sql`select from pg_stat_activity where datname = ${name}`.execute(server);
        return rows.length === 0;
      });
      await sql`drop database ${sql.id(name)}`.execute(server);
      await server.destroy();
    },
  };
}
