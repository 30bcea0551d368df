import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

/**
 * Deletes up to `limit` segments of a shard that are older than `days`, the oldest first and none that comes after one that is
 * kept, and returns how many there were. Reads no more than it may delete.
 */
export async function deleteOldSegments(
  db: Database,
  shardId: number,
  days: number,
  limit: number,
): Promise<number> {
  // Places are in the order of time, but for the moments that a writer waited for its place. By an array, of which Postgres
  // expects little, and with the limit in the text: otherwise it might rather read everything.
  const { numAffectedRows } = await sql`
    delete from journal_segments
    where shard_id = ${shardId} and last_offset = any(array(
      select last_offset
      from (
        select last_offset,
          bool_and(at < now() - make_interval(days => ${days}::integer)) over (order by last_offset) as is_old
        from journal_segments
        where shard_id = ${shardId}
        order by last_offset
        limit ${sql.lit(limit)}
      ) oldest
      where is_old
    ))`.execute(db);
  return Number(numAffectedRows ?? 0);
}
