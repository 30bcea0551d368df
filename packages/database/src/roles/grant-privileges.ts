import { sql } from 'kysely';
import pg from 'pg';
import { inTransaction, type Database } from '../connection/connect.ts';
import { parseGrants, readGrants } from './missing-privileges.ts';
import type { ServiceName } from './services.ts';

/**
 * `too-powerful`: the role has rights that no revoke removes. `may-still-create`: all privileges were
 * granted, but every role can create objects in this database, and the connected user cannot revoke that.
 */
export type GrantOutcome = 'granted' | 'no-such-role' | 'too-powerful' | 'may-still-create';

// Two concurrent grants would fail on the catalog's rows. The integer spells "grnt".
const GRANT_LOCK = 0x67726e74;

/**
 * Grants an existing login role exactly the privileges that a service needs in this database (sql/grants),
 * and revokes all others. It is one transaction, so open connections keep working. Safe to repeat. Only the
 * owner keeps the right to create objects, including temporary tables.
 */
export function grantPrivileges(db: Database, service: ServiceName, role: string): Promise<GrantOutcome> {
  return inTransaction(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(${GRANT_LOCK})`.execute(tx);
    const existingRole = await readRole(tx, role);
    if (!existingRole) return 'no-such-role';
    if (existingRole.isPowerful) return 'too-powerful';
    const theRole = sql.id(role);
    const database = sql.id(existingRole.database);
    const schema = sql.id(existingRole.schema);
    const grants = (await readGrants(service)).replaceAll(':"role"', () => pg.escapeIdentifier(role));
    // Revoking a table's privileges also revokes those of its columns.
    await sql`
      revoke create, temporary on database ${database} from public;
      revoke create on schema ${schema} from public;
      revoke all on database ${database} from ${theRole};
      revoke all on schema ${schema} from ${theRole};
      revoke all on all tables in schema ${schema} from ${theRole};
      revoke all on all sequences in schema ${schema} from ${theRole};
      revoke all on all routines in schema ${schema} from ${theRole};
      grant connect on database ${database} to ${theRole};
      grant usage on schema ${schema} to ${theRole};
      ${sql.raw(grants)}`.execute(tx);
    await sql`
      insert into service_roles (role, service) values (${role}, ${service})
      on conflict (role) do update set service = excluded.service`.execute(tx);
    // Postgres only warns about a revoke that the connected user has no right to.
    return (await readRole(tx, role))!.mayCreate ? 'may-still-create' : 'granted';
  });
}

/** Repeats the grants of every service, after a migration. */
export async function regrant(db: Database) {
  for (const { role, service } of await listServiceRoles(db)) await grantPrivileges(db, service, role);
}

/**
 * Grants these functions to the services that call them, without their other grants. Does nothing in an empty
 * database.
 */
export async function grantFunctions(db: Database, functions: ReadonlySet<string>) {
  const { rows } = await sql<{ isEmpty: boolean }>`
    select to_regclass('service_roles') is null as "isEmpty"`.execute(db);
  if (rows[0]!.isEmpty) return;
  for (const { role, service } of await listServiceRoles(db)) {
    const grants = parseGrants(await readGrants(service)).filter(({ kind }) => kind === 'function');
    for (const name of grants.flatMap(({ names }) => names).filter((called) => functions.has(called)))
      await sql`grant execute on function ${sql.ref(name)} to ${sql.id(role)}`.execute(db);
  }
}

/** Returns the existing roles to which a service was granted. */
export async function listServiceRoles(db: Database) {
  const { rows } = await sql<{ role: string; service: ServiceName }>`
    select role, service from service_roles join pg_roles on rolname = role order by role`.execute(db);
  return rows;
}

/**
 * Returns a login role. One that is an administrator, owns an object or is a member of another role can
 * obtain more privileges.
 */
async function readRole(db: Database, role: string) {
  const { rows } = await sql<
    Record<'database' | 'schema', string> & Record<'isPowerful' | 'mayCreate', boolean>
  >`
    select current_database() as database, current_schema() as schema,
      rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls or rolname = current_user
        or exists (select from pg_auth_members where member = pg_roles.oid)
        or exists (
          select from pg_shdepend
          where refclassid = 'pg_authid'::regclass and refobjid = pg_roles.oid and deptype = 'o'
        ) as "isPowerful",
      has_database_privilege(rolname, current_database(), 'create, temporary')
        or has_schema_privilege(rolname, current_schema(), 'create') as "mayCreate"
    from pg_roles where rolname = ${role} and rolcanlogin`.execute(db);
  return rows[0];
}

/** Creates a login role with this password, or changes its password. grantPrivileges sets its privileges. */
export async function ensureLoginRole(db: Database, role: string, password: string) {
  const { rows } = await sql`select from pg_roles where rolname = ${role}`.execute(db);
  const action = sql.raw(rows.length === 0 ? 'create' : 'alter');
  await sql`${action} role ${sql.id(role)} login password ${sql.lit(password)}`.execute(db);
}
