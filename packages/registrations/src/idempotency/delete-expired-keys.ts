import { sql } from 'kysely';
import type { Database } from '@floodgate/database';
import { IDEMPOTENCY_RETENTION_HOURS } from '../register/reserve-batch.ts';

/** Deletes up to `limit` expired idempotency keys and returns how many there were. */
export async function deleteExpiredIdempotencyKeys(db: Database, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from idempotency_keys
    where ctid = any(array(
      select ctid from idempotency_keys
      where created_at <= now() - make_interval(hours => ${IDEMPOTENCY_RETENTION_HOURS}::integer)
      order by created_at limit ${limit}
    ))`.execute(db);
  return Number(numAffectedRows ?? 0);
}
