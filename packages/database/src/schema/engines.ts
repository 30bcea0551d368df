/**
 * How statements of a function of one shard are written. In them `{batches}` is a table, `$size` one of the function's
 * variables.
 */
export interface Engine {
  /** The first statement of the function. */
  begin: string;
  /** Returns what carries the statement out; what it returns goes `into` variables. */
  run: (statement: string, into?: string) => string;
}

const TABLE = /\{(\w+)\}/g;
const VARIABLE = /\$([a-z]\w*)/g;

const putInto = (into: string | undefined) => (into ? ` into ${into}` : '');

/** Postgres by itself. */
export const PLAIN: Engine = {
  begin: '',
  run: (statement, into) => statement.replaceAll(TABLE, '$1').replaceAll(VARIABLE, '$1') + putInto(into),
};

/**
 * A server of a Citus cluster that has the shard. The tables are the shard's own: Citus plans each statement on a spread
 * table anew, and that takes several times as long as to carry it out. The shard is held where it is meanwhile.
 */
export const CITUS: Engine = {
  begin: 'perform hold_shard(shard);',
  run: (statement, into) => {
    const variables = namesIn(statement, VARIABLE);
    const numbered = statement
      .replaceAll(TABLE, '%I')
      .replaceAll(VARIABLE, (_, name: string) => `$${variables.indexOf(name) + 1}`);
    const tables = Array.from(statement.matchAll(TABLE), ([, table]) => `, shard_table('${table!}', shard)`);
    const using = variables.length === 0 ? '' : ` using ${variables.join(', ')}`;
    return `execute format($statement$${numbered}$statement$${tables.join('')})${putInto(into)}${using}`;
  },
};

const namesIn = (statement: string, pattern: RegExp) => [
  ...new Set(Array.from(statement.matchAll(pattern), ([, name]) => name!)),
];

/** Functions that what is written for Citus needs, on every server. */
export const CITUS_FUNCTIONS = [
  `create or replace function shard_table(name text, shard integer) returns text
  language sql stable
  return name || '_' || get_shard_id_for_distribution_column(name::regclass, shard)`,
  // Statements of Citus's own lock the place of their shard in the same way. Only the tables' owner may.
  `create or replace function hold_shard(shard integer) returns void
  language plpgsql security definer set search_path from current
  as $$
  declare
    place constant bigint := get_shard_id_for_distribution_column('tickets', shard);
    share constant integer := 5;
  begin
    perform lock_shard_metadata(share, array[place]);
    -- It may have moved before. What is left of it here is deleted soon.
    if not exists (
      select from pg_dist_placement
      where shardid = place and groupid = (select groupid from pg_dist_local_group)
    ) then
      raise exception 'shard % is not on this server', shard using errcode = 'serialization_failure';
    end if;
  end $$`,
];
