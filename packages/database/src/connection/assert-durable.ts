import { sql } from 'kysely';
import type { Database } from './connect.ts';

/**
 * Throws, saying what to do, where a commit does not wait for Postgres's disk: a crash could take back what was answered
 * "00". Every role may set that for itself: whoever once had its password may have done so.
 */
export async function assertDurable(db: Database): Promise<void> {
  const { rows } = await sql<{ isOff: boolean }>`
    select current_setting('synchronous_commit') = 'off' as "isOff"`.execute(db);
  if (!rows[0]!.isOff) return;
  throw new Error(
    'for the user in DATABASE_URL synchronous_commit is off: a crash of Postgres could take back what was answered "00"; ' +
      'as its owner, see "select * from pg_db_role_setting" and run "alter role … reset synchronous_commit"',
  );
}
