import { test as plainTest } from 'vitest';
import type { Database } from '@floodgate/database';
import { createTestDatabase, type TestDatabase } from './database.ts';

/** The database of the test file. It is dropped after the last test. */
export let database: TestDatabase;
export let db: Database;

/** A test whose file has a database. */
export const test = plainTest
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the pattern
  .extend('database', { scope: 'file', auto: true }, async ({}, { onCleanup }) => {
    database = await createTestDatabase();
    ({ db } = database);
    onCleanup(() => database.drop());
    return database;
  })
  .extend('db', { scope: 'file' }, () => db);
