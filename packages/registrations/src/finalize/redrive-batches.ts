import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

/**
 * Makes failed batches pending again (all of them, or one) and due for the relay at once. Returns their ids.
 */
export async function redriveBatches(
  db: Database,
  selection: { batchId?: string; limit: number },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update batches
    set state = 'pending', pending_since = now(), finished_at = null, failure = null, relay_at = now()
    where id in (
      select id from batches
      where state = 'failed' and (${selection.batchId ?? null}::uuid is null or id = ${selection.batchId ?? null}::uuid)
      order by created_at limit ${selection.limit} for update skip locked
    )
    returning id`.execute(db);
  return rows.map(({ id }) => id);
}
