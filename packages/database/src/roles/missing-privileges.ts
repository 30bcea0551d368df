import { readFile } from 'node:fs/promises';
import type { Logger } from '@floodgate/service';
import { sql } from 'kysely';
import type pg from 'pg';
import type { Database } from '../connection/connect.ts';
import type { ServiceName } from './services.ts';

/**
 * Throws if the connected role lacks a privilege of this service, and says how to grant it. The owner has all
 * of them. assertReady reports objects that do not exist yet.
 */
export async function assertGranted(db: Database, service: ServiceName) {
  const lack = (await findLacks(db, service)).find(({ isThere }) => isThere);
  if (lack) throw new Error(sentenceOf(lack, service));
}

/** The SQLSTATEs of a missing privilege, column and table. */
const NO_PRIVILEGE = '42501';
const LACKING = new Set([NO_PRIVILEGE, '42703', '42P01']);

const EXPLAIN_INTERVAL_MS = 60_000;

/**
 * Returns a function that logs, for a statement that Postgres rejected, what the service's role or schema
 * lacks after a change by an operator, and the command that repairs it. Postgres's own message is not logged:
 * it can quote data, in any language.
 */
export function explainRefusals(service: ServiceName, log: Logger) {
  let explainedAt = -Infinity;
  return ({ code = '' }: pg.DatabaseError, db: Database) => {
    if (!LACKING.has(code) || performance.now() - explainedAt < EXPLAIN_INTERVAL_MS) return;
    explainedAt = performance.now();
    findLacks(db, service).then(
      ([lack]) => (lack || code !== NO_PRIVILEGE) && log.error({ code }, sentenceOf(lack, service)),
      // The sender of the statement logs that it failed.
      () => {},
    );
  };
}

/** Returns the statements that grant a service its privileges; the role is the psql variable `role`. */
export const readGrants = (service: ServiceName) =>
  readFile(new URL(`../../sql/grants/${service}.sql`, import.meta.url), 'utf8');

const STATEMENT = /^grant ([^;]+?)\s+on\s+(?:(sequence|function)\s+)?([\w,\s]+?)\s+to :"role";/gm;
const PRIVILEGE = /(\w+)(?: \(([^)]*)\))?(?:,|$)/g;

/** Returns the privileges in grant statements. Without columns: on the whole table. */
export const parseGrants = (text: string) =>
  Array.from(text.matchAll(STATEMENT), ([, privileges, kind = 'table', names]) =>
    Array.from(privileges!.matchAll(PRIVILEGE), ([, privilege, columns]) => ({
      kind,
      names: wordsOf(names!),
      privilege: privilege!,
      columns: columns ? wordsOf(columns) : null,
    })),
  ).flat();

const wordsOf = (list: string) => list.split(',').map((word) => word.trim());

interface Lack {
  name: string;
  privilege: string;
  /** Null: the whole table. */
  column: string | null;
  isThere: boolean;
}

/** Returns the message for operators. Without a lack, an object that no grant names is missing. */
function sentenceOf(lack: Lack | undefined, service: ServiceName) {
  const migrate = 'run "npm run floodgate -- migrate"';
  if (!lack) return `the database schema does not match this release; ${migrate}`;
  const { name, privilege, column, isThere } = lack;
  const place = column === null ? name : `${name} (${column})`;
  return isThere
    ? `the user in DATABASE_URL lacks ${privilege} on ${place}, which the ${service} needs; ` +
        `run "npm run floodgate -- grant ${service} <role>"`
    : `the database schema does not match this release: there is no ${place}; ${migrate}`;
}

/** Returns missing objects first, then missing privileges. */
async function findLacks(db: Database, service: ServiceName) {
  const { rows } = await sql<Lack>`
    select name, privilege, "column", "isThere"
    from json_to_recordset(${JSON.stringify(parseGrants(await readGrants(service)))})
      as needed (kind text, names text[], privilege text, columns text[])
    cross join unnest(names) as name
    left join unnest(columns) as "column" on true
    left join pg_attribute on attrelid = to_regclass(name) and attname = "column"
    cross join lateral (
      select case kind when 'function' then to_regproc(name) is not null else
        to_regclass(name) is not null and ("column" is null or attnum is not null) end
    ) as _ ("isThere")
    where not "isThere" or not case
      when kind = 'function' then has_function_privilege(to_regproc(name), privilege)
      when kind = 'sequence' then has_sequence_privilege(to_regclass(name), privilege)
      when "column" is null then has_table_privilege(to_regclass(name), privilege)
      else has_column_privilege(to_regclass(name), attnum, privilege)
    end
    order by "isThere", name, "column", privilege`.execute(db);
  return rows;
}
