import { sql } from 'kysely';
import type { Database } from '../connection/connect.ts';
import { privilegesOf, type ServiceName } from './privileges.ts';

/**
 * Throws, saying what to do, where the connected role lacks a privilege of this service. The owner lacks none. What does
 * not exist yet is left to assertMigrated.
 */
export async function assertGranted(db: Database, service: ServiceName): Promise<void> {
  const lack = (await findLacks(db, service)).find(({ isThere }) => isThere);
  if (lack) throw new Error(sentenceOf(lack, service));
}

/** Returns what the database, or the connected role in it, lacks for this service, with the command that mends it. */
export async function explainLack(db: Database, service: ServiceName): Promise<string | null> {
  const [lack] = await findLacks(db, service);
  return lack ? sentenceOf(lack, service) : null;
}

interface Lack {
  table: string;
  privilege: string;
  /** Null: the whole table. */
  column: string | null;
  isThere: boolean;
}

function sentenceOf({ table, privilege, column, isThere }: Lack, service: ServiceName): string {
  const place = column === null ? table : `${table} (${column})`;
  return isThere
    ? `the user in DATABASE_URL may not ${privilege} ${place}, as the ${service} must; ` +
        `run "npm run floodgate -- grant ${service} <role>"`
    : `the database schema is not what this release needs: there is no ${place}; run "npm run floodgate -- migrate"`;
}

/** Returns what is not there before what may not be used. */
async function findLacks(db: Database, service: ServiceName): Promise<Lack[]> {
  const { rows } = await sql<Lack>`
    select needed.table, privilege, case when relation is not null then "column" end as "column", "isThere"
    from json_to_recordset(${JSON.stringify(privilegesOf(service))})
      as needed ("table" text, privilege text, columns text[])
    left join unnest(columns) as "column" on true
    cross join to_regclass(needed.table) as relation
    left join pg_attribute on attrelid = relation and attname = "column"
    cross join lateral (select relation is not null and ("column" is null or attnum is not null)) as _ ("isThere")
    where not "isThere" or not case
      when "column" is null then has_table_privilege(relation, privilege)
      else has_column_privilege(relation, attnum, privilege)
    end
    order by "isThere", needed.table, "column", privilege`.execute(db);
  return rows;
}
