import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../connection/connect.ts';
import { inTransaction } from '../connection/in-transaction.ts';
import { findFunctions, revokeFunctionsFromPublic } from './functions.ts';
import { FUNCTIONS, privilegesOf, type ServiceName } from './privileges.ts';

type Sql = RawBuilder<unknown>;

/**
 * `too-powerful`: the role can do things by itself that no revoke takes away. `may-still-create`: it was granted all that
 * it needs, but everybody has the right to create things here, and whoever asked cannot revoke that.
 */
export type GrantOutcome = 'granted' | 'no-such-role' | 'too-powerful' | 'may-still-create';

// Two grants at once would fail on the catalogue's rows. The integer spells "grnt".
const GRANT_LOCK = 0x67726e74;

/**
 * Gives an existing login role exactly what a service needs in this database (PRIVILEGES), and takes away whatever else
 * it was granted here: one transaction, which those who are connected do not notice. Safe to repeat.
 * Nobody but the owner keeps the right to create anything, temporary tables included, or to execute functions that were not granted.
 */
export function grantPrivileges(db: Database, service: ServiceName, role: string): Promise<GrantOutcome> {
  return inTransaction(db, async (transaction) => {
    await sql`select pg_advisory_xact_lock(${GRANT_LOCK})`.execute(transaction);
    const [found] = (await readRole(transaction, role)).rows;
    if (!found) return 'no-such-role';
    if (found.isPowerful) return 'too-powerful';
    const statements = grant(service, sql.id(role), sql.id(found.database), sql.id(found.schema));
    for (const statement of statements) await statement.execute(transaction);
    await revokeFunctionsFromPublic(transaction);
    for (const { name, signature } of await findFunctions(transaction))
      if (FUNCTIONS[service].includes(name))
        await sql`grant execute on function ${sql.raw(signature)} to ${sql.id(role)}`.execute(transaction);
    return (await mayCreate(transaction, role)) ? 'may-still-create' : 'granted';
  });
}

// To revoke what one has no right to is a warning for Postgres, not an error.
async function mayCreate(db: Database, role: string): Promise<boolean> {
  const { rows } = await sql<{ mayCreate: boolean }>`
    select has_database_privilege(${role}, current_database(), 'create, temporary')
      or has_schema_privilege(${role}, current_schema(), 'create') as "mayCreate"`.execute(db);
  return rows[0]!.mayCreate;
}

/** A role that is an administrator, owns something or is a member of another role can help itself to more. */
function readRole(db: Database, role: string) {
  return sql<{ database: string; schema: string; isPowerful: boolean }>`
    select current_database() as database, current_schema() as schema,
      rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls or rolname = current_user
        or exists (select from pg_auth_members where member = pg_roles.oid)
        or exists (
          select from pg_shdepend
          where refclassid = 'pg_authid'::regclass and refobjid = pg_roles.oid and deptype = 'o'
        ) as "isPowerful"
    from pg_roles where rolname = ${role} and rolcanlogin`.execute(db);
}

function grant(service: ServiceName, role: Sql, database: Sql, schema: Sql): Sql[] {
  const kinds = ['tables', 'sequences', 'routines'].map((kind) => sql.raw(kind));
  return [
    sql`revoke create, temporary on database ${database} from public`,
    sql`revoke create on schema ${schema} from public`,
    sql`revoke all on database ${database} from ${role}`,
    sql`revoke all on schema ${schema} from ${role}`,
    // With a table's privileges go those of its columns.
    ...kinds.map((kind) => sql`revoke all on all ${kind} in schema ${schema} from ${role}`),
    sql`grant connect on database ${database} to ${role}`,
    sql`grant usage on schema ${schema} to ${role}`,
    ...privilegesOf(service).map(({ table, privilege, columns }) => {
      const list = columns ? sql`(${sql.join(columns.map((column) => sql.id(column)))})` : sql``;
      const kind = sql.raw(privilege === 'usage' ? 'sequence' : 'table');
      return sql`grant ${sql.raw(privilege)} ${list} on ${kind} ${schema}.${sql.id(table)} to ${role}`;
    }),
  ];
}

/** Makes sure that there is a login role of this name with this password. grantPrivileges says what it may do. */
export async function ensureLoginRole(db: Database, role: string, password: string): Promise<void> {
  const { rows } = await sql`select from pg_roles where rolname = ${role}`.execute(db);
  const action = sql.raw(rows.length === 0 ? 'create' : 'alter');
  await sql`${action} role ${sql.id(role)} login password ${sql.lit(password)}`.execute(db);
}
