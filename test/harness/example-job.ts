import { randomUUID } from 'node:crypto';
import type { Database } from '@floodgate/database';
import { sql } from 'kysely';

/** Adds a paused job of an event, of which a third is done and one item failed. Returns its id. */
export async function addJob(db: Database, { eventId }: { eventId: number }) {
  const id = randomUUID();
  await sql`
    insert into jobs (
      shard_id, id, kind, event_id, filter, settings, digest, state, total, done, failed, created_by, started_at
    )
    select shard_id, ${id}::uuid, 'cancel', id, '{}', '{}', ${id}, 'paused', 1200, 400, 1, 'tests', now()
    from events where id = ${eventId}`.execute(db);
  return id;
}
