import type { Database } from '@floodgate/database';
import { sql } from 'kysely';

/** Makes every time that is noted of a shard's consumers be so much longer ago. By constants: Citus reckons with no columns. */
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

/** Ends all leases now: no test waits for those of a process that was killed. */
export async function endLeases(db: Database): Promise<void> {
  await sql`update journal_consumers set leased_until = now() where leased_until is not null`.execute(db);
  await sql`update deliveries set due_at = now() where state = 'sending'`.execute(db);
}
