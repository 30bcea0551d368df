import { type Database } from '@floodgate/database';
import { sql } from 'kysely';
import { connectInTest } from './connect-in-test.ts';

// Privileges of a service's role on the servers of a Citus cluster.

const INSUFFICIENT_PRIVILEGE = '42501';

const ATTENDEE = [
  'full_name',
  'email_address',
  'phone_number',
  'gender',
  'table_or_seat',
  'extra_data_1',
  'extra_data_2',
];

const NO_BUSINESS_OF_SERVICES = [
  'select * from registrations',
  'delete from registrations',
  'truncate registrations',
  'select name from partners',
  'select * from pg_dist_authinfo',
  "select citus_add_node('127.0.0.1', 1)",
  "select citus_drain_node('127.0.0.1', 1)",
  "select citus_update_node(1, '127.0.0.1', 1)",
  'create table mine ()',
  'create temporary table mine ()',
];

/** A statement that returns, as JSON, a role's privileges on each of these relations that exists on the server. */
const heldOn = (role: string, relations: readonly string[]) => `
  select coalesce(json_object_agg(name, (
    select coalesce(string_agg(held, ', ' order by held), '') from (
      select privilege || ' ' || attname as held
      from pg_attribute, unnest(array['select', 'insert', 'update', 'references']) as privilege
      where attrelid = to_regclass(name) and attnum > 0 and not attisdropped
        and has_column_privilege('${role}', attrelid, attnum, privilege)
      union all
      select privilege from unnest(array['delete', 'truncate', 'trigger']) as privilege
      where has_table_privilege('${role}', to_regclass(name), privilege)
    ) _
  )), '{}')::text as result
  from unnest('{${relations.join()}}'::text[]) as name where to_regclass(name) is not null`;

/**
 * Returns the copies of shards on which a role has other privileges than on their table. Asks each server
 * once: a connection for each copy would take minutes.
 */
export async function differencesOnShards(owner: Database, role: string): Promise<string[]> {
  const { rows: shards } = await sql<{ table: string; name: string; copies: number }>`
    select logicalrelid::text as table, logicalrelid::text || '_' || shardid as name,
      (select count(*) from pg_dist_placement where shardid = shard.shardid) as copies
    from pg_dist_shard shard`.execute(owner);
  const tables = [...new Set(shards.map(({ table }) => table))];
  const onTables = await sql.raw<{ result: string }>(heldOn(role, tables)).execute(owner);
  const wanted = JSON.parse(onTables.rows[0]!.result) as Record<string, string>;
  const command = heldOn(
    role,
    shards.map(({ name }) => name),
  );
  const { rows: servers } = await sql<{ nodeid: number; success: boolean; result: string }>`
    select * from run_command_on_all_nodes(${command})`.execute(owner);
  const found = servers.flatMap(({ nodeid, success, result }) => {
    if (!success) throw new Error(`server ${nodeid}: ${result}`);
    return Object.entries(JSON.parse(result) as Record<string, string>).map(([name, held]) => {
      return { nodeid, name, held };
    });
  });
  const copies = shards.reduce((sum, shard) => sum + shard.copies, 0);
  if (found.length < copies) throw new Error(`found ${found.length} of ${copies} copies of shards`);
  const tableOf = new Map(shards.map(({ name, table }) => [name, table]));
  return found
    .filter(({ name, held }) => held !== wanted[tableOf.get(name)!])
    .map(({ nodeid, name, held }) => `${name} on server ${nodeid}: ${held}`);
}

/** Returns statements that Postgres allows a role although they read attendees' data or change a server. */
export async function attendeesReadBy(
  owner: Database,
  db: Database,
  url: string,
  shardId: number,
): Promise<string[]> {
  const { rows } = await sql<{ host: string; port: number; shard: string }>`
    select nodename as host, nodeport as port, 'registrations_' || shardid as shard
    from pg_dist_placement join pg_dist_node using (groupid)
    where shardid = get_shard_id_for_distribution_column('registrations', ${shardId}::integer)`.execute(
    owner,
  );
  const { host, port, shard } = rows[0]!;
  const server = Object.assign(new URL(url), { host: `${host}:${port}` });
  await using onServer = connectInTest(server.href);
  const allowed: string[] = [];
  for (const [place, table] of [
    [db, 'registrations'],
    [onServer, 'registrations'],
    [onServer, shard],
  ] as const) {
    const reads = ATTENDEE.flatMap((column) => [
      `select ${column} from ${table}`,
      `copy ${table} (${column}) to stdout`,
    ]);
    const filtered = ATTENDEE.map((column) => `select ${column} from ${table} where shard_id = ${shardId}`);
    for (const statement of [...reads, ...filtered, ...NO_BUSINESS_OF_SERVICES]) {
      const code = await codeOf(place, statement);
      if (code !== INSUFFICIENT_PRIVILEGE) allowed.push(`${statement}: ${code}`);
    }
  }
  return [...allowed, ...(await answersForServers(db, shard))];
}

/** Like `attendeesReadBy`, through the functions that run a statement on every server or shard and return the results. */
async function answersForServers(db: Database, shard: string): Promise<string[]> {
  const asked = [
    sql`run_command_on_all_nodes('select full_name from registrations')`,
    sql`run_command_on_workers(${`select full_name from ${shard}`})`,
    sql`run_command_on_shards('registrations', 'select full_name from %s')`,
  ].map((call) =>
    sql<{ success: boolean; result: string }>`select success, result from ${call}`.execute(db).then(
      ({ rows }) => rows,
      (error: { code?: string }) => {
        // A role without privileges on the table may not list its shards.
        if (error.code === INSUFFICIENT_PRIVILEGE) return [];
        throw error;
      },
    ),
  );
  const rows = (await Promise.all(asked)).flat();
  if (rows.length === 0) throw new Error('no server was asked');
  return rows.filter(({ success }) => success).map(({ result }) => result);
}

const codeOf = (db: Database, statement: string) =>
  sql
    .raw(statement)
    .execute(db)
    .then(
      () => 'allowed',
      (error: { code?: string }) => error.code,
    );
