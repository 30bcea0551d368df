import { randomBytes } from 'node:crypto';
import { connect, type Database } from '@floodgate/database';
import * as initial from '@floodgate/database/schema/migrations/0001-initial';
import * as audit from '@floodgate/database/schema/migrations/0002-audit';
import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { inject } from 'vitest';
import { withDatabase } from './database-url.ts';

/** A database as the release before has migrated it. */
export async function createDatabaseOfReleaseBefore(): Promise<
  AsyncDisposable & { db: Database; url: string }
> {
  const serverUrl = inject('postgresUrl');
  const name = `floodgate_test_before_${randomBytes(6).toString('hex')}`;
  const server = connect({ connectionString: serverUrl, applicationName: 'tests', maxConnections: 1 });
  await sql`create database ${sql.id(name)}`.execute(server);
  const url = withDatabase(serverUrl, name);
  const db = connect({ connectionString: url, applicationName: 'tests', maxConnections: 3 });
  const released = { '0001-initial': initial, '0002-audit': audit };
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(released) } });
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
  return {
    db,
    url,
    [Symbol.asyncDispose]: async () => {
      await db.destroy();
      await sql`drop database ${sql.id(name)} with (force)`.execute(server);
      await server.destroy();
    },
  };
}
