import { sql } from 'kysely';
import type { Database } from '../connection/connect.ts';

/** The functions of the schema, without those of extensions and of other owners. */
export async function findFunctions(db: Database) {
  const { rows } = await sql<{ name: string; signature: string }>`
    select proname as name, oid::regprocedure::text as signature from pg_proc
    where pronamespace = current_schema()::regnamespace and prokind = 'f'
      and pg_has_role(current_user, proowner, 'usage')
      and not exists (
        select from pg_depend where classid = 'pg_proc'::regclass and objid = pg_proc.oid and deptype = 'e'
      )`.execute(db);
  return rows;
}

/**
 * Postgres lets everybody execute a new function, and some of ours run with the rights of the owner. After this only the owner
 * and the roles of `floodgate grant` may execute them. Safe to repeat; on Citus it reaches every server.
 */
export async function revokeFunctionsFromPublic(db: Database): Promise<void> {
  for (const { signature } of await findFunctions(db))
    await sql`revoke execute on function ${sql.raw(signature)} from public`.execute(db);
}
