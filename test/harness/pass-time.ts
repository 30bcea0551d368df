import type { Database } from '@floodgate/database';
import { sql } from 'kysely';

/** Moves all times of a shard's consumers into the past. Uses constants, because Citus cannot calculate with columns here. */
export async function passTime(db: Database, shardId: number, seconds: number): Promise<void> {
  const consumers = await db
    .selectFrom('journal_consumers')
    .select(['id', 'next_at', 'leased_until', 'failing_since'])
    .where('shard_id', '=', shardId)
    .execute();
  const earlier = (time: Date) => new Date(time.getTime() - seconds * 1_000);
  for (const { id, next_at, leased_until, failing_since } of consumers)
    await db
      .updateTable('journal_consumers')
      .set({
        next_at: earlier(next_at),
        leased_until: leased_until && earlier(leased_until),
        failing_since: failing_since && earlier(failing_since),
      })
      .where('shard_id', '=', shardId)
      .where('id', '=', id)
      .execute();
}

/** Expires all leases now, so that a test does not wait for those of a killed process. */
export async function endLeases(db: Database): Promise<void> {
  await sql`update journal_consumers set leased_until = now() where leased_until is not null`.execute(db);
  await sql`update deliveries set due_at = now() where state = 'sending'`.execute(db);
}
