import { Failure, InvalidInput } from '@floodgate/service/failure';
import { sql } from 'kysely';
import type { Database } from '../connection/connect.ts';

/** Small tables, which Citus copies to every node. The other tables with a shard_id are distributed by it. */
const COPIED = ['partners', 'secret_keys', 'shards', 'events', 'event_grants', 'pass_keys'];

/** The first version that propagates column privileges to the shards. */
const OLDEST_CITUS = '13.1';
/** Candidate ids for each of Citus's shards, far more than needed. */
const CANDIDATES_PER_SHARD = 100;
// Spells "dist".
const DISTRIBUTE_LOCK = 0x64697374;

/**
 * Distributes the tables and functions over the nodes of a Citus cluster, in one transaction. Does nothing on
 * a Postgres without Citus. Safe to repeat and to run concurrently. Existing rows stay in shard 0. Returns
 * whether anything changed. Throws Failure if Citus is too old.
 */
export async function distribute(db: Database, shards = 32) {
  const version = await citusVersion(db);
  if (version === undefined) return false;
  if (version.localeCompare(OLDEST_CITUS, 'en', { numeric: true }) < 0)
    throw new Failure(`Citus ${OLDEST_CITUS} or newer is required, and this is ${version}`);
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${DISTRIBUTE_LOCK})`.execute(tx);
    await sql`set local citus.multi_shard_modify_mode = 'sequential'`.execute(tx);
    const tables = await distributeTables(tx, shards);
    const functions = await distributeFunctions(tx);
    const added = await addShards(tx);
    return tables + functions + added > 0;
  });
}

/** Throws InvalidInput if the database cannot have this number of shards. Changes nothing. */
export async function assertShards(db: Database, shards: number) {
  if (!(await isCluster(db)))
    throw new InvalidInput({ '--shards': 'only on a Citus cluster; this Postgres has one shard' });
  const there = await countShards(db);
  if (there > 0 && there !== shards)
    throw new InvalidInput({ '--shards': `the cluster has ${there} shards, and their number cannot change` });
}

/** Returns whether this is a Citus cluster. */
export const isCluster = async (db: Database) => (await citusVersion(db)) !== undefined;

/** Returns whether this is a Citus cluster whose tables are distributed. */
export const isDistributed = async (db: Database) => (await isCluster(db)) && (await countShards(db)) > 0;

async function citusVersion(db: Database) {
  const { rows } = await sql<{ version: string }>`
    select extversion as version from pg_extension where extname = 'citus'`.execute(db);
  return rows[0]?.version;
}

/**
 * Returns the number of tables that it distributed. Citus also lists tables that it only knows because of
 * their foreign keys: these are distributed as well.
 */
async function distributeTables(db: Database, shards: number) {
  const { rows } = await sql<{ name: string; isCopied: boolean }>`
    select relname as name, relname = any(${COPIED}) as "isCopied" from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'r'
      and (relname = any(${COPIED})
        or exists (select from pg_attribute where attrelid = pg_class.oid and attname = 'shard_id'))
      and not exists (
        select from pg_dist_partition where logicalrelid = pg_class.oid and (partmethod = 'h' or repmodel = 't')
      )
    order by array_position(${COPIED}, relname::text), relname <> 'tickets', relname`.execute(db);
  for (const { name, isCopied } of rows) {
    const how = name === 'tickets' ? sql`shard_count := ${shards}::integer` : sql`colocate_with := 'tickets'`;
    if (isCopied) await sql`select create_reference_table(${name})`.execute(db);
    else await sql`select create_distributed_table(${name}, 'shard_id', ${how})`.execute(db);
  }
  return rows.length;
}

/**
 * Functions that are called in transactions of several statements. Citus runs the others of such a transaction on
 * the coordinator.
 */
const IN_TRANSACTIONS = ['reserve_guests'];

/**
 * Makes Citus run each function on the node of the shard in its first argument. Returns the number of
 * functions that it distributed. Generic plans are off: Citus plans a statement for one shard on each
 * execution anyway, and one of its generic plans crashes the server.
 */
export async function distributeFunctions(db: Database) {
  const { rows } = await sql<{ signature: string }>`
    select oid::regprocedure::text as signature from pg_proc
    where proname in (select name from schema_files) and pronamespace = current_schema()::regnamespace
      and not exists (
        select from pg_dist_object
        where classid = 'pg_proc'::regclass and objid = pg_proc.oid and distribution_argument_index is not null
      )`.execute(db);
  for (const { signature } of rows) {
    const isForced = IN_TRANSACTIONS.some((name) => signature.startsWith(`${name}(`));
    await sql`
      select create_distributed_function(
        ${signature}::regprocedure, '$1', colocate_with := 'tickets',
        force_delegation := ${isForced ? true : null}::boolean
      )`.execute(db);
    await sql`alter function ${sql.raw(signature)} set plan_cache_mode = force_custom_plan`.execute(db);
  }
  return rows.length;
}

/** Returns the number of Citus's shards, or 0 if the tables are not distributed. */
async function countShards(db: Database) {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from pg_dist_shard where logicalrelid = to_regclass('tickets')`.execute(db);
  return rows[0]!.count;
}

/**
 * Citus places a row by a hash of its shard id, and the ids 0 to 31 would share some places and leave others
 * empty. So each place gets the lowest id that hashes to it. Returns the number of added shards.
 */
async function addShards(db: Database) {
  const candidates = CANDIDATES_PER_SHARD * (await countShards(db));
  const { rows } = await sql<{ id: number }>`
    select min(id) as id from generate_series(0, ${candidates}::integer) as id
    group by get_shard_id_for_distribution_column('tickets', id)`.execute(db);
  const shards = await db.selectFrom('shards').select('id').execute();
  const missing = rows.filter(({ id }) => !shards.some((shard) => shard.id === id));
  for (const { id } of missing) {
    for (const table of ['journal_heads', 'consumer_scans'])
      await sql`insert into ${sql.table(table)} (shard_id) values (${id})`.execute(db);
    await sql`insert into shards (id) values (${id})`.execute(db);
  }
  return missing.length;
}
