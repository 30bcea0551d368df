import { Failure, InvalidInput } from '@floodgate/service/failure';
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../connection/connect.ts';
import { revokeFunctionsFromPublic } from '../roles/functions.ts';
import { CITUS, CITUS_FUNCTIONS, type Engine } from './engines.ts';
import { createFinalizeBatches } from './finalize-batches.ts';
import { createReserveBatch } from './reserve-batch.ts';
import { oneAtATime } from './shard-keys.ts';

/** What is small, and the same on every server. */
const DIRECTORY = ['partners', 'secret_keys', 'shards', 'events', 'event_grants', 'pass_keys'];
/** What belongs to an event, and lies where its shard does. */
const OF_EVENTS = [
  'tickets',
  'batches',
  'registrations',
  'idempotency_keys',
  'journal_heads',
  'journal_segments',
  'journal_consumers',
  'webhook_endpoints',
  'webhook_secrets',
  'webhook_attempts',
  'webhook_notices',
  'mail_deliveries',
];
/** Run on the shard's server, which their first argument names. Some are written anew for Citus. */
const FUNCTIONS: Record<string, ((engine: Engine) => RawBuilder<unknown>) | null> = {
  reserve_batch: createReserveBatch,
  finalize_batches: createFinalizeBatches,
  lease_batches: null,
  tell_of_ticket: null,
  cancel_registrations: null,
  confirm_registrations: null,
  expire_holds: null,
  lease_consumers: null,
  consumer_lags: null,
  webhook_delivered: null,
};

export const DEFAULT_SHARDS = 32;
/** The first that carries what is granted by column to the shards. */
const OLDEST_CITUS = '13.1';
/** Integers that are tried for an id in each of Citus's shards: far more than are needed. */
const CANDIDATES_PER_SHARD = 100;

/**
 * Spreads the tables over the servers of a Citus cluster. Does nothing on a Postgres without Citus. Safe to repeat, also after
 * it was interrupted, and to run twice at once. Needs the keys that begin with the shard. What is stored already stays in
 * shard 0. Returns whether there was anything to do. Throws Failure where Citus is too old.
 */
export async function distribute(db: Database, shards = DEFAULT_SHARDS): Promise<boolean> {
  if (!(await isCluster(db))) return false;
  await assertCitusSupported(db);
  return oneAtATime(db, async (connection) => {
    const tables = await spreadTables(connection, shards);
    const functions = await spreadFunctions(connection);
    if (functions > 0) await revokeFunctionsFromPublic(connection);
    const added = await addShards(connection);
    return tables + functions + added > 0;
  });
}

/** Throws InvalidInput where there cannot be so many shards. Changes nothing. */
export async function assertShards(db: Database, shards: number): Promise<void> {
  if (!(await isCluster(db)))
    throw new InvalidInput({ '--shards': 'only on a Citus cluster; this Postgres has one shard' });
  const there = await countShards(db);
  if (there > 0 && there !== shards)
    throw new InvalidInput({ '--shards': `there are ${there} already, and their number stays` });
}

/** Returns whether this is a Citus cluster. */
export async function isCluster(db: Database): Promise<boolean> {
  return (await sql`select from pg_extension where extname = 'citus'`.execute(db)).rows.length > 0;
}

async function assertCitusSupported(db: Database): Promise<void> {
  const { rows } = await sql<{ version: string; isTooOld: boolean }>`
    select extversion as version,
      string_to_array(replace(extversion, '-', '.'), '.')::integer[]
        < string_to_array(${OLDEST_CITUS}, '.')::integer[] as "isTooOld"
    from pg_extension where extname = 'citus'`.execute(db);
  const { version, isTooOld } = rows[0]!;
  if (isTooOld) throw new Failure(`Citus ${OLDEST_CITUS} or newer is needed, and this is ${version}`);
}

/** Returns how many tables there were to spread. */
async function spreadTables(db: Database, shards: number): Promise<number> {
  // Hash-distributed, or replicated everywhere. Tables that Citus adds by itself for their foreign keys are neither.
  const { rows } = await sql<{ name: string }>`
    select logicalrelid::text as name from pg_dist_partition where partmethod = 'h' or repmodel = 't'`.execute(
    db,
  );
  const spread = new Set(rows.map(({ name }) => name));
  const missing = (tables: string[]) => tables.filter((table) => !spread.has(table));
  await adoptSequence(db, 'tickets', 'id', 'ticket_ids', 'integer');
  await adoptSequence(db, 'registrations', 'serial', 'registrations_serial_seq', 'bigint');
  // It would become a table of the cluster's, and no statement on those may return what the clock says.
  await sql`
    alter table rate_limit_windows drop constraint if exists rate_limit_windows_partner_id_fkey`.execute(db);
  for (const table of missing(DIRECTORY)) await sql`select create_reference_table(${table})`.execute(db);
  for (const table of missing(OF_EVENTS)) {
    const how =
      table === 'tickets' ? sql`shard_count := ${shards}::integer` : sql`colocate_with := 'tickets'`;
    await sql`select create_distributed_table(${table}, 'shard_id', ${how})`.execute(db);
  }
  return missing([...DIRECTORY, ...OF_EVENTS]).length;
}

/** Returns how many functions there were to spread. */
async function spreadFunctions(db: Database): Promise<number> {
  const { rows } = await sql<{ name: string; signature: string; isWritten: boolean; isSpread: boolean }>`
    select proname as name, oid::regprocedure::text as signature, prosrc like '%hold_shard%' as "isWritten",
      exists (
        select from pg_dist_object
        where classid = 'pg_proc'::regclass and objid = pg_proc.oid and distribution_argument_index is not null
      ) as "isSpread"
    from pg_proc
    where proname = any(${Object.keys(FUNCTIONS)}) and pronamespace = current_schema()::regnamespace`.execute(
    db,
  );
  const missing = rows.filter(
    ({ name, isWritten, isSpread }) => !isSpread || (FUNCTIONS[name] && !isWritten),
  );
  if (missing.length > 0) for (const create of CITUS_FUNCTIONS) await sql.raw(create).execute(db);
  for (const { name, signature, isWritten, isSpread } of missing) {
    const write = FUNCTIONS[name];
    if (write && !isWritten) await write(CITUS).execute(db);
    if (!isSpread)
      await sql`
        select create_distributed_function(${signature}::regprocedure, '$1', colocate_with := 'tickets')`.execute(
        db,
      );
  }
  return missing.length;
}

/** Returns how many shards Citus has made; 0 where the tables are not spread. */
async function countShards(db: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from pg_dist_shard where logicalrelid = to_regclass('tickets')`.execute(db);
  return rows[0]!.count;
}

/**
 * Gives a column a sequence of its own instead of an identity. Those of identities have to be bigint in Citus, which ids of
 * tickets are not, and what is granted on them stays on the coordinator. All of it or nothing, because Citus lets nobody change
 * the table any more once the tables that it refers to are spread.
 */
async function adoptSequence(
  db: Database,
  table: string,
  column: string,
  sequence: string,
  type: 'integer' | 'bigint',
): Promise<void> {
  const { rows } = await sql`
    select from pg_attribute
    where attrelid = ${table}::regclass and attname = ${column} and attidentity <> ''`.execute(db);
  if (rows.length === 0) return;
  const [ofTable, ofColumn, name] = [sql.table(table), sql.ref(column), sql.ref(sequence)];
  await db.transaction().execute(async (transaction) => {
    await sql`alter table ${ofTable} alter ${ofColumn} drop identity`.execute(transaction);
    await sql`create sequence ${name} as ${sql.raw(type)}`.execute(transaction);
    await sql`
      select setval(${sequence}, (select coalesce(max(${ofColumn}), 0) + 1 from ${ofTable}), false)`.execute(
      transaction,
    );
    await sql`
      alter table ${ofTable} alter ${ofColumn} set default nextval(${sql.lit(sequence)})`.execute(
      transaction,
    );
  });
}

/**
 * Citus finds a row's place by a hash of its shard id, and the ids 0 to 31 would share some places and leave others empty. So
 * each place gets the lowest id that leads to it. Returns how many were missing.
 */
async function addShards(db: Database): Promise<number> {
  const candidates = CANDIDATES_PER_SHARD * (await countShards(db));
  const { rows } = await sql<{ id: number }>`
    select min(id) as id from generate_series(0, ${candidates}::integer) as id
    group by get_shard_id_for_distribution_column('tickets', id)`.execute(db);
  const [shards, heads] = [await idsOf(db, 'shards', 'id'), await idsOf(db, 'journal_heads', 'shard_id')];
  const missing = rows.filter(({ id }) => !shards.has(id) || !heads.has(id));
  for (const { id } of missing) {
    // An event may choose the shard as soon as it is there.
    if (!heads.has(id)) await sql`insert into journal_heads (shard_id) values (${id})`.execute(db);
    if (!shards.has(id)) await sql`insert into shards (id) values (${id})`.execute(db);
  }
  return missing.length;
}

async function idsOf(db: Database, table: string, column: string): Promise<Set<number>> {
  const { rows } = await sql<{
    id: number;
  }>`select ${sql.ref(column)} as id from ${sql.table(table)}`.execute(db);
  return new Set(rows.map(({ id }) => id));
}
