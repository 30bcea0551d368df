import { Failure } from '@floodgate/service/failure';
import { sql } from 'kysely';
import type { Database } from '../connection/connect.ts';

/** What is small, and the same on every server. */
const DIRECTORY = ['partners', 'secret_keys', 'shards', 'events', 'event_grants'];
/** What belongs to an event, and lies where its shard does. */
const OF_EVENTS = [
  'tickets',
  'batches',
  'registrations',
  'idempotency_keys',
  'journal_heads',
  'journal_segments',
];
/** Run on the shard's server, which their first argument names. */
const FUNCTIONS = ['reserve_batch', 'finalize_batches', 'lease_batches', 'reopen_ticket'];

export const DEFAULT_SHARDS = 32;
/** The first that carries what is granted by column to the shards. */
const OLDEST_CITUS = '13.1';
/** Integers that are tried for an id in each of Citus's shards: far more than are needed. */
const CANDIDATES_PER_SHARD = 100;

/**
 * Spreads the tables over the servers of a Citus cluster. Does nothing on a Postgres without Citus. Safe to repeat, also after
 * it was interrupted. Needs the keys that begin with the shard. What is stored already stays in shard 0. Returns whether
 * anything was spread. Throws Failure where Citus is too old.
 */
export async function distribute(db: Database, shards = DEFAULT_SHARDS): Promise<boolean> {
  if (!(await isCluster(db))) return false;
  await assertCitusSupported(db);
  const spread = await readSpread(db);
  const missing = (tables: string[]) => tables.filter((table) => !spread.has(table));
  if (missing([...DIRECTORY, ...OF_EVENTS]).length === 0) return false;
  if (!spread.has('tickets')) await adoptSequence(db, 'tickets', 'id', 'ticket_ids', 'integer');
  if (!spread.has('registrations'))
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
  for (const name of FUNCTIONS) {
    // Citus plans their joins only with the values at hand.
    await sql`alter function ${sql.id(name)} reset plan_cache_mode`.execute(db);
    await sql`
      select create_distributed_function(oid::regprocedure, '$1', colocate_with := 'tickets')
      from pg_proc where proname = ${name} and pronamespace = current_schema()::regnamespace`.execute(db);
  }
  await addShards(db, shards);
  return true;
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

async function readSpread(db: Database): Promise<Set<string>> {
  // Hash-distributed, or replicated everywhere. Tables that Citus adds by itself for their foreign keys are neither.
  const { rows } = await sql<{ name: string }>`
    select logicalrelid::text as name from pg_dist_partition where partmethod = 'h' or repmodel = 't'`.execute(
    db,
  );
  return new Set(rows.map(({ name }) => name));
}

/**
 * Gives a column a sequence of its own instead of an identity. Those of identities have to be bigint in Citus, which ids of
 * tickets are not, and what is granted on them stays on the coordinator.
 */
async function adoptSequence(
  db: Database,
  table: string,
  column: string,
  sequence: string,
  type: 'integer' | 'bigint',
): Promise<void> {
  const [ofTable, ofColumn, name] = [sql.table(table), sql.ref(column), sql.ref(sequence)];
  await sql`alter table ${ofTable} alter ${ofColumn} drop identity if exists`.execute(db);
  await sql`create sequence if not exists ${name} as ${sql.raw(type)}`.execute(db);
  await sql`
    select setval(${sequence}, (select coalesce(max(${ofColumn}), 0) + 1 from ${ofTable}), false)`.execute(
    db,
  );
  await sql`
    alter table ${ofTable} alter ${ofColumn} set default nextval(${sql.lit(sequence)})`.execute(db);
}

/**
 * Citus finds a row's place by a hash of its shard id, and the ids 0 to 31 would share some places and leave others empty. So
 * each place gets the lowest id that leads to it.
 */
async function addShards(db: Database, shards: number): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select min(id) as id from generate_series(0, ${shards * CANDIDATES_PER_SHARD}::integer) as id
    group by get_shard_id_for_distribution_column('tickets', id)`.execute(db);
  for (const { id } of rows) {
    await sql`insert into shards (id) values (${id}) on conflict do nothing`.execute(db);
    await sql`insert into journal_heads (shard_id) values (${id}) on conflict do nothing`.execute(db);
  }
}
