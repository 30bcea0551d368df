import { setTimeout as delay } from 'node:timers/promises';
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../connection/connect.ts';
import { inTransaction } from '../connection/in-transaction.ts';

/** Keys that begin with the shard: the index that is built beside the key without it, the table, the columns. */
const SHARD_KEYS = [
  ['tickets_by_shard', 'tickets', 'shard_id, id'],
  ['batches_by_shard', 'batches', 'shard_id, id'],
  ['registrations_by_shard', 'registrations', 'shard_id, serial'],
  ['idempotency_keys_by_shard', 'idempotency_keys', 'shard_id, partner_id, event_id, key'],
] as const;

const ATTENDEES = `registrations (shard_id, event_id, attendee_digest)
  where attendee_digest is not null and cancelled_at is null`;

// Spells "shrd".
const BUILD_LOCK = 0x73687264;
const RETRY_MS = 200;

/**
 * Builds the keys that begin with the shard where they are missing, while others go on writing: a large table takes
 * minutes. Cannot run in a transaction. Safe to repeat, also after it was interrupted.
 */
export async function buildShardKeys(db: Database): Promise<void> {
  if (!(await exists(db, 'registrations')) || (await hasShardKeys(db))) return;
  await db.connection().execute(async (connection) => {
    // Not by waiting in Postgres: who waits there holds up the index that the other one builds.
    while (!(await tryLock(connection))) await delay(RETRY_MS);
    try {
      for (const [, table] of SHARD_KEYS)
        await sql`alter table ${sql.table(table)} add if not exists shard_id integer not null default 0`.execute(
          connection,
        );
      for (const [index, table, columns] of SHARD_KEYS)
        await build(connection, index, `${table} (${columns})`);
      await build(connection, 'registrations_attendee_by_shard', ATTENDEES);
    } finally {
      await sql`select pg_advisory_unlock(${BUILD_LOCK})`.execute(connection);
    }
  });
}

/**
 * Makes them the primary keys, and drops those without the shard, which the release before needs: `force` says that it
 * runs no more. Where there is no registration yet it does so anyway. Returns whether the keys are now in order.
 */
export async function adoptShardKeys(db: Database, force: boolean): Promise<boolean> {
  if (await hasShardKeys(db)) return true;
  if (!force && (await isAny(db, sql`select from registrations limit 1`))) return false;
  await inTransaction(db, async (transaction) => {
    for (const [index, table] of SHARD_KEYS) {
      const [name, key, by] = [sql.table(table), sql.ref(`${table}_pkey`), sql.ref(index)];
      await sql`alter table ${name} drop constraint ${key}, add constraint ${key} primary key using index ${by}`.execute(
        transaction,
      );
    }
    // Replaced by batches_unwritten.
    await sql`drop index batches_pending`.execute(transaction);
    await sql`drop index registrations_one_per_attendee`.execute(transaction);
    await sql`alter index registrations_attendee_by_shard rename to registrations_one_per_attendee`.execute(
      transaction,
    );
  });
  return true;
}

async function build(db: Database, index: string, on: string): Promise<void> {
  // One that was interrupted is left behind, and worth nothing.
  const isBroken = await isAny(
    db,
    sql`select from pg_index where indexrelid = to_regclass(${index}) and not indisvalid`,
  );
  if (isBroken) await sql`drop index concurrently ${sql.ref(index)}`.execute(db);
  await sql`create unique index concurrently if not exists ${sql.ref(index)} on ${sql.raw(on)}`.execute(db);
}

const exists = (db: Database, table: string) =>
  isAny(db, sql`select where to_regclass(${table}) is not null`);

/** Whether the primary key of registrations begins with the shard: it is adopted with all others. */
const hasShardKeys = (db: Database) =>
  isAny(
    db,
    sql`
      select from pg_index join pg_attribute on attrelid = indrelid and attnum = indkey[0]
      where indrelid = to_regclass('registrations') and indisprimary and attname = 'shard_id'`,
  );

const isAny = async (db: Database, query: RawBuilder<unknown>) => (await query.execute(db)).rows.length > 0;

async function tryLock(db: Database): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_lock(${BUILD_LOCK}) as locked`.execute(db);
  return rows[0]!.locked;
}
