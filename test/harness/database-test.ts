import { test as plainTest } from 'vitest';
import type { Database } from '@floodgate/database';
import { createTestDatabase, waitUntilNoneIsOpen, type TestDatabase } from './database.ts';
import { forgetPrivate } from './private-data.ts';
import { sharedServers } from './shared-servers.ts';

/** What the tests of a file can use. Filled before the first test: a file must not read it while it loads. */
export interface GivenDatabase {
  database: TestDatabase;
  db: Database;
}

export interface FileOptions {
  /** Why the file needs a database and an API that no other file uses. Without a reason, the files of a worker share them. */
  own?: string;
}

const workerTest = plainTest
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the pattern
  .extend('servers', { scope: 'worker' }, ({}, { onCleanup }) => {
    onCleanup(() => sharedServers.close());
    return sharedServers;
  })
  // What earlier files sent is in none of this file's logs.
  .extend('privateData', { scope: 'file', auto: true }, forgetPrivate);

/** Returns the `test` of a file with a database. */
export function databaseTest({ own }: FileOptions = {}) {
  const given = {} as GivenDatabase;
  const test = workerTest
    .extend('database', { scope: 'file', auto: true }, async ({ servers }, { onCleanup }) => {
      const database = own === undefined ? await servers.database() : await createTestDatabase();
      onCleanup(() => (own === undefined ? waitUntilNoneIsOpen(database.db) : database.drop()));
      Object.assign(given, { database, db: database.db });
      return database;
    })
    .extend('db', { scope: 'file' }, ({ database }) => database.db);
  return { test, given };
}
