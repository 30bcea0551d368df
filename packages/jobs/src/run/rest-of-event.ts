import type { Database } from '@floodgate/database';
import { sql } from 'kysely';

/** Registrations of any event that one statement reads at most: there is no index by event. */
const WINDOW = 50_000;
const LIMIT = 1_000;

/**
 * Returns up to 1,000 registrations of an event that are not cancelled. A called-off event can still get some
 * after its job was started: a change of attendee makes a further registration of the seat.
 */
export async function restOfEvent(db: Database, shardId: number, eventId: number): Promise<number[]> {
  for (let after = 0; ;) {
    const next = sql`
      select serial, event_id, cancelled_at from registrations
      where shard_id = ${shardId} and serial > ${after} order by serial limit ${WINDOW}`;
    const { rows } = await sql<{ serials: number[] | null; end: number | null }>`
      select max(serial) as end,
        to_json((array_agg(serial) filter (where event_id = ${eventId} and cancelled_at is null))[1:${sql.lit(LIMIT)}])
          as serials
      from (${next}) next`.execute(db);
    const { serials, end } = rows[0]!;
    if (serials && serials.length > 0) return serials;
    if (end === null) return [];
    after = end;
  }
}
