import type { Database } from '@floodgate/database';
import { sql } from 'kysely';

/**
 * Replaces the rows that count the held seats of a shard by one for each ticket and partner, or by none after
 * the last hold. Replaces up to `limit` rows of each ticket. Returns how many rows are gone.
 */
export async function compactHeldSeats(db: Database, shardId: number, limit: number) {
  const { rows } = await sql<{ count: number }>`
    select compact_held_seats(${shardId}::integer, ${limit}::integer) as count`.execute(db);
  return rows[0]!.count;
}
