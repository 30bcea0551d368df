import { sql, type RawBuilder } from 'kysely';

/**
 * A condition, always true, that bounds how long its statement waits for a row (0: not at all bounded). Postgres evaluates
 * it once, before it looks at a row; it holds for the transaction, so it may go through a pooler.
 */
export function lockTimeout(withinMs: number): RawBuilder<boolean> {
  return sql`(select set_config('lock_timeout', ${String(withinMs)}, true)) is not null`;
}
