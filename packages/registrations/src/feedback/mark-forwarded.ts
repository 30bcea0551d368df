import type { Database } from '@floodgate/database';
import { sql } from 'kysely';

/** Notes that feedback was forwarded. Idempotent. */
export async function markForwarded(db: Database, id: number): Promise<void> {
  await sql`update feedback set forwarded_at = coalesce(forwarded_at, now()) where id = ${id}`.execute(db);
}
