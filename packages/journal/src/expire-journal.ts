import { sql } from 'kysely';
import type { Database } from '@floodgate/database';

/**
 * Deletes up to `limit` segments of a shard that are older than `days`, and returns how many there were. What was told last of
 * a ticket stays: it decides what is told next.
 */
export async function deleteOldSegments(
  db: Database,
  shardId: number,
  days: number,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from journal_segments
    where shard_id = ${shardId} and (event_id, partner_id, last_offset) in (
      select event_id, partner_id, last_offset from journal_segments old
      where shard_id = ${shardId} and at < now() - make_interval(days => ${days}::integer)
        and (partner_id <> 0 or exists (
          select from journal_segments later
          where later.shard_id = ${shardId} and later.event_id = old.event_id and later.partner_id = 0
            and later.ticket_id = old.ticket_id and later.last_offset > old.last_offset
        ))
      limit ${limit}
    )`.execute(db);
  return Number(numAffectedRows ?? 0);
}
