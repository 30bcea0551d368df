import { sql } from 'kysely';
import type { Database } from '../connection/connect.ts';

/** Makes sure that there is a login role of this name with this password. grantPrivileges says what it may do. */
export async function ensureLoginRole(db: Database, role: string, password: string): Promise<void> {
  const { rows } = await sql`select from pg_roles where rolname = ${role}`.execute(db);
  const action = sql.raw(rows.length === 0 ? 'create' : 'alter');
  await sql`${action} role ${sql.id(role)} login password ${sql.lit(password)}`.execute(db);
}
