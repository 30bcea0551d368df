import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import { onTestFinished } from 'vitest';
import { countLockWaiters } from './lock-waiters.ts';

/** Locks a table, so that every statement on it waits. Released by `release`, or after the test. */
export async function holdTable(db: Database, table: string) {
  const owner = await db.startTransaction().execute();
  await sql`lock table ${sql.id(table)} in access exclusive mode`.execute(owner);
  let released: Promise<void> | undefined;
  const release = () => (released ??= owner.rollback().execute());
  onTestFinished(release);
  return { release, waiters: () => countLockWaiters(db) };
}
