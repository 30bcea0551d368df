import { sql } from 'kysely';
import type { Database } from '../connection/connect.ts';
import { PRIVILEGES, type ServiceName, type TablePrivileges } from './privileges.ts';

/**
 * Throws, saying what to do, where the connected role lacks a privilege of this service. The owner lacks none. What does
 * not exist yet is left to assertMigrated.
 */
export async function assertGranted(db: Database, service: ServiceName): Promise<void> {
  const { rows } = await sql<{ table: string; privilege: string }>`
    select needed.table, privilege
    from json_to_recordset(${JSON.stringify(neededBy(service))}) as needed ("table" text, privilege text, "column" text)
    left join pg_attribute on attrelid = to_regclass(needed.table) and attname = needed.column
    where not case
      when needed.column is null then has_table_privilege(to_regclass(needed.table), privilege)
      else has_column_privilege(attrelid, attnum, privilege)
    end
    limit 1`.execute(db);
  const [missing] = rows;
  if (!missing) return;
  throw new Error(
    `the user in DATABASE_URL may not ${missing.privilege} ${missing.table}, as the ${service} must; ` +
      `run "npm run floodgate -- grant ${service} <role>"`,
  );
}

/** One row for each column; `column` null stands for the whole table. */
function neededBy(service: ServiceName): { table: string; privilege: string; column: string | null }[] {
  return Object.entries<TablePrivileges>(PRIVILEGES[service]).flatMap(([table, privileges]) =>
    Object.entries(privileges).flatMap(([privilege, columns]) =>
      (Array.isArray(columns) ? columns : [null]).map((column: string | null) => ({
        table,
        privilege,
        column,
      })),
    ),
  );
}
