import { connect, type Database } from '@floodgate/database';
import { sql } from 'kysely';

// What a service's role may do on the servers of a Citus cluster.

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

/** What a role may do with a relation, as a statement; the relation's name may be a placeholder. */
const heldOn = (role: string, relation: string) => `
  select coalesce(string_agg(held, ', ' order by held), '') as held from (
    select privilege || ' ' || attname as held
    from pg_attribute, unnest(array['select', 'insert', 'update', 'references']) as privilege
    where attrelid = '${relation}'::regclass and attnum > 0 and not attisdropped
      and has_column_privilege('${role}', attrelid, attnum, privilege)
    union all
    select privilege from unnest(array['delete', 'truncate', 'trigger']) as privilege
    where has_table_privilege('${role}', '${relation}'::regclass, privilege)
  ) _`;

/** Returns where a role may do other things with a shard, wherever a copy of it lies, than with its table. */
export async function differencesOnShards(owner: Database, role: string): Promise<string[]> {
  const { rows: tables } = await sql<{ name: string }>`
    select logicalrelid::text as name from pg_dist_partition`.execute(owner);
  const differences: string[] = [];
  for (const { name } of tables) {
    const { rows } = await sql.raw<{ held: string }>(heldOn(role, name)).execute(owner);
    const { held } = rows[0]!;
    const { rows: placements } = await sql<{ shardid: number; nodeport: number; result: string }>`
      select * from run_command_on_placements(${name}, ${heldOn(role, '%1$s')})`.execute(owner);
    if (placements.length === 0) throw new Error(`${name} has no shards`);
    for (const { shardid, nodeport, result } of placements)
      if (result !== held) differences.push(`${name} ${shardid} on ${nodeport}: ${result}; not ${held}`);
  }
  return differences;
}

/** Returns the statements that are not refused to a role and would show it attendees, or change a server. */
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
  await using onServer = connect({
    connectionString: server.href,
    applicationName: 'tests',
    maxConnections: 1,
  });
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

/** The same through the functions that ask every server, or shard, and say what each answered. */
async function answersForServers(db: Database, shard: string): Promise<string[]> {
  const asked = [
    sql`run_command_on_all_nodes('select full_name from registrations')`,
    sql`run_command_on_workers(${`select full_name from ${shard}`})`,
    sql`run_command_on_shards('registrations', 'select full_name from %s')`,
  ].map((call) =>
    sql<{ success: boolean; result: string }>`select success, result from ${call}`.execute(db).then(
      ({ rows }) => rows,
      (error: { code?: string }) => {
        // A role without any privilege on the table may not ask for its shards.
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
