import { setTimeout as delay } from 'node:timers/promises';
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../connection/connect.ts';

/** Keys that begin with the shard: the index that is built beside the key without it, the table, the columns. */
const SHARD_KEYS = [
  ['tickets_by_shard', 'tickets', 'shard_id, id'],
  ['batches_by_shard', 'batches', 'shard_id, id'],
  ['idempotency_keys_by_shard', 'idempotency_keys', 'shard_id, partner_id, event_id, key'],
  ['registrations_by_shard', 'registrations', 'shard_id, serial'],
] as const;

const ATTENDEES = `registrations (shard_id, event_id, attendee_digest)
  where attendee_digest is not null and cancelled_at is null`;

// Spells "shrd".
const BUILD_LOCK = 0x73687264;
const RETRY_MS = 200;

/** Columns that the migrations add to tables which the release before writes to. With a constant default no row is rewritten. */
const COLUMNS = [
  ...SHARD_KEYS.map(([, table]) => [table, 'shard_id', 'integer not null default 0'] as const),
  ['registrations', 'held_until', 'timestamptz'],
  ['batches', 'event_id', 'integer'],
  ['batches', 'partner_id', 'integer'],
  ['batches', 'events', 'integer[]'],
  ['batches', 'partners', 'integer[]'],
  ['batches', 'serials', 'bigint[]'],
  ['batches', 'sold_out', 'integer[]'],
  ['batches', 'journal_offset', 'bigint'],
  ['idempotency_keys', 'outcomes', 'text[]'],
  ['idempotency_keys', 'serials', 'bigint[]'],
] as const;

const UNWRITTEN = `batches (shard_id, relay_at)
  where journal_offset is null and state in ('pending', 'confirmed')`;

const HELD = `registrations (shard_id, held_until)
  where held_until is not null and cancelled_at is null`;

/**
 * Prepares the tables of an existing installation while others go on writing: it adds columns and builds keys that begin with
 * the shard. A large table takes minutes. Cannot run in a transaction: holding one table while it waits for the next, it would
 * wait for those who hold that one for ever. Safe to repeat, also after it was interrupted.
 */
export async function buildShardKeys(db: Database): Promise<void> {
  if (!(await hasTables(db)) || (await hasShardKeys(db))) return;
  await oneAtATime(db, async (connection) => {
    // Somebody else may have adopted them meanwhile, or some of them before it was interrupted.
    const unadopted = await unadoptedKeys(connection);
    if (unadopted.length === 0) return;
    for (const [table, column, type] of COLUMNS) await addColumn(connection, table, column, type);
    for (const [index, table, columns] of unadopted)
      await build(connection, 'unique', index, `${table} (${columns})`);
    await build(connection, 'unique', 'registrations_attendee_by_shard', ATTENDEES);
    await build(connection, '', 'batches_unwritten', UNWRITTEN);
    await build(connection, '', 'registrations_held', HELD);
    await forgetPlaces(connection);
  });
}

const HELD_BY_PARTNER = `registrations (shard_id, ticket_id, partner_id)
  where held_until is not null and cancelled_at is null`;

/**
 * Builds what counts the seats that a partner holds, while others go on writing. Without it holds are only slower. Safe to repeat.
 */
export async function buildHoldIndex(db: Database): Promise<void> {
  const found = sql`
    select from pg_index where indexrelid = to_regclass('registrations_held_by_partner') and indisvalid`;
  if (await isAny(db, found)) return;
  await oneAtATime(db, (connection) =>
    build(connection, '', 'registrations_held_by_partner', HELD_BY_PARTNER),
  );
}

/** Returns whether somebody has migrated this database before. */
export const hasTables = (db: Database) =>
  isAny(db, sql`select where to_regclass('registrations') is not null`);

/** Does `work` on the schema that cannot be one transaction. Whoever else does such work waits. */
export async function oneAtATime<Result>(
  db: Database,
  work: (connection: Database) => Promise<Result>,
): Promise<Result> {
  return db.connection().execute(async (connection) => {
    // Not by waiting in Postgres: who waits there holds up the index that the other one builds.
    while (!(await tryLock(connection))) await delay(RETRY_MS);
    try {
      return await work(connection);
    } finally {
      await sql`select pg_advisory_unlock(${BUILD_LOCK})`.execute(connection);
    }
  });
}

/**
 * A batch that the release before redrives is unwritten again, as one that this release redrives: that one does not know of
 * the place in the journal where it reads "failed".
 */
async function forgetPlaces(db: Database): Promise<void> {
  if (await isAny(db, sql`select from pg_trigger where tgname = 'forget_place'`)) return;
  await sql`
    create or replace function forget_place() returns trigger language plpgsql as
      $$ begin new.journal_offset := null; return new; end $$`.execute(db);
  await sql`
    create trigger forget_place before update of state on batches for each row
    when (old.state = 'failed' and new.state = 'pending') execute function forget_place()`.execute(db);
}

/** Adds a column that is missing. One that is there is not even locked for it. */
async function addColumn(db: Database, table: string, column: string, type: string): Promise<void> {
  const found = sql`
    select from pg_attribute where attrelid = to_regclass(${table}) and attname = ${column} and not attisdropped`;
  if (await isAny(db, found)) return;
  await sql`alter table ${sql.table(table)} add ${sql.ref(column)} ${sql.raw(type)}`.execute(db);
}

/** Returns whether the keys that begin with the shard are the primary ones, and all that is there. */
export async function hasShardKeys(db: Database): Promise<boolean> {
  return (await unadoptedKeys(db)).length === 0;
}

/**
 * Makes them the primary keys, and drops what only the release before needs: none of its processes may run any more. One
 * table after the other, each by itself; safe to repeat, and to run twice at once.
 */
export async function adoptShardKeys(db: Database): Promise<void> {
  await oneAtATime(db, async (connection) => {
    const unadopted = await unadoptedKeys(connection);
    if (unadopted.length === 0) return;
    await sql`drop trigger if exists forget_place on batches`.execute(connection);
    await sql`drop function if exists forget_place()`.execute(connection);
    // Replaced by batches_unwritten.
    await sql`drop index if exists batches_pending`.execute(connection);
    if (
      await isAny(connection, sql`select where to_regclass('registrations_attendee_by_shard') is not null`)
    ) {
      await sql`drop index if exists registrations_one_per_attendee`.execute(connection);
      await sql`
        alter index registrations_attendee_by_shard rename to registrations_one_per_attendee`.execute(
        connection,
      );
    }
    for (const [index, table] of unadopted) {
      const [name, key, by] = [sql.table(table), sql.ref(`${table}_pkey`), sql.ref(index)];
      await sql`
        alter table ${name} drop constraint ${key}, add constraint ${key} primary key using index ${by}`.execute(
        connection,
      );
    }
  });
}

async function unadoptedKeys(db: Database) {
  const unadopted: (typeof SHARD_KEYS)[number][] = [];
  for (const entry of SHARD_KEYS) if (!(await hasShardKey(db, entry[1]))) unadopted.push(entry);
  return unadopted;
}

async function build(db: Database, kind: 'unique' | '', index: string, on: string): Promise<void> {
  // One that was interrupted is left behind, and worth nothing.
  const isBroken = await isAny(
    db,
    sql`select from pg_index where indexrelid = to_regclass(${index}) and not indisvalid`,
  );
  if (isBroken) await sql`drop index concurrently ${sql.ref(index)}`.execute(db);
  await sql`
    create ${sql.raw(kind)} index concurrently if not exists ${sql.ref(index)} on ${sql.raw(on)}`.execute(db);
}

/** Whether the primary key of a table begins with the shard. */
const hasShardKey = (db: Database, table: string) =>
  isAny(
    db,
    sql`
      select from pg_index join pg_attribute on attrelid = indrelid and attnum = indkey[0]
      where indrelid = to_regclass(${table}) and indisprimary and attname = 'shard_id'`,
  );

const isAny = async (db: Database, query: RawBuilder<unknown>) => (await query.execute(db)).rows.length > 0;

async function tryLock(db: Database): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_lock(${BUILD_LOCK}) as locked`.execute(db);
  return rows[0]!.locked;
}
