import { sql } from 'kysely';
import type { Database } from './connect.ts';

/** Returns whether Postgres answers. Bounded by the pool's own timeouts. */
export async function ping(db: Database): Promise<boolean> {
  return sql`select 1`.execute(db).then(
    () => true,
    () => false,
  );
}
