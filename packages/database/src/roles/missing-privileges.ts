import type { Logger } from '@floodgate/service';
import { sql } from 'kysely';
import type { ConnectOptions, Database } from '../connection/connect.ts';
import { FUNCTIONS, privilegesOf, type ServiceName } from './privileges.ts';

/**
 * Throws, saying what to do, where the connected role lacks a privilege of this service. The owner lacks none. What does
 * not exist yet is left to assertMigrated.
 */
export async function assertGranted(db: Database, service: ServiceName): Promise<void> {
  const lack = (await findLacks(db, service)).find(({ isThere }) => isThere);
  if (lack) throw new Error(sentenceOf(lack, service));
}

/** The SQLSTATEs of a privilege, column or table that is not there. */
const LACKING = new Set(['42501', '42703', '42P01']);

const EXPLAIN_INTERVAL_MS = 60_000;

/**
 * Returns an `onRefusal` for `connect`. It logs what a service's role or schema lacks since an operator changed it, and the
 * command that mends it. Postgres's own message is not logged: it may quote data, in any language.
 */
export function explainRefusals(service: ServiceName, log: Logger): NonNullable<ConnectOptions['onRefusal']> {
  let explainedAt = -Infinity;
  return ({ code = '' }, db) => {
    if (!LACKING.has(code) || performance.now() - explainedAt < EXPLAIN_INTERVAL_MS) return;
    explainedAt = performance.now();
    findLacks(db, service).then(
      ([lack]) => lack && log.error({ code }, sentenceOf(lack, service)),
      // Whoever sent the statement logs that it failed.
      () => {},
    );
  };
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
    cross join lateral (
      select relation is not null and ("column" is null or attnum is not null)
    ) as _ ("isThere")
    where not "isThere" or not case
      when privilege = 'usage' then has_sequence_privilege(relation, privilege)
      when "column" is null then has_table_privilege(relation, privilege)
      else has_column_privilege(relation, attnum, privilege)
    end
    union all
    select proname, 'execute', null, true from pg_proc
    where proname = any(${FUNCTIONS[service]}) and pronamespace = current_schema()::regnamespace
      and not has_function_privilege(oid, 'execute')
    order by "isThere", 1, "column", privilege`.execute(db);
  return rows;
}
