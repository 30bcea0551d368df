import { sql, type RawBuilder } from 'kysely';

/**
 * Returns a condition that is always true and bounds how long its statement waits for a row (0: no bound). Postgres
 * evaluates it once, before it looks at a row. It holds for the transaction, so it works through a pooler.
 */
export function lockTimeout(withinMs: number): RawBuilder<boolean> {
  return sql`(select set_config('lock_timeout', ${String(withinMs)}, true)) is not null`;
}
