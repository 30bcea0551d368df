import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

/**
 * Leases up to `limit` batches that have waited too long for their finalization. Each is left alone for a
 * time that doubles with every enqueue (5 s up to about 5 min), so a backlog is not enqueued over and over.
 * Two relays never get the same batch. Returns their ids.
 */
export async function leaseDueBatches(db: Database, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    update batches
    set enqueues = enqueues + 1, relay_at = now() + interval '5 s' * (2 ^ least(enqueues, 6))
    where id in (
      select id from batches where state = 'pending' and relay_at <= now()
      order by relay_at limit ${limit} for update skip locked
    )
    returning id`.execute(db);
  return rows.map(({ id }) => id);
}
