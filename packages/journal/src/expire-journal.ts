import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

/** Deletes up to `limit` segments of a shard that are older than `days`, and returns how many there were. */
export async function deleteOldSegments(
  db: Database,
  shardId: number,
  days: number,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from journal_segments
    where shard_id = ${shardId} and (event_id, partner_id, last_offset) in (
      select event_id, partner_id, last_offset from journal_segments
      where shard_id = ${shardId} and at < now() - make_interval(days => ${days}::integer)
      limit ${limit}
    )`.execute(db);
  return Number(numAffectedRows ?? 0);
}
