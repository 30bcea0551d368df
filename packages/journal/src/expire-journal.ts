import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

/**
 * Deletes up to `limit` of the oldest segments of a shard if they are older than `days`, and none after a segment that is kept. Returns
 * how many. Reads no more than it may delete.
 */
export async function deleteOldSegments(
  db: Database,
  shardId: number,
  days: number,
  limit: number,
): Promise<number> {
  // Offsets are in the order of time, except for the moment a writer waited for the head. An array and a limit in the text, because
  // Postgres would expect many rows otherwise, and read the whole table.
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
