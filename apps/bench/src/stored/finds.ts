import { randomInt } from 'node:crypto';
import type { Database } from '@floodgate/database';
import { findAttendees, indexAttendees, type AttendeeQuery } from '@floodgate/registrations/find';
import { sql } from 'kysely';
import type { Values } from '../report/results.ts';
import { quantile } from '../report/statistics.ts';

const INDEXED_AT_ONCE = 1_000;
const FINDS = 200;
/** Attendees on a page of the console. */
const PAGE = 100;

/** Indexes all attendees as the worker does. Returns how many per second. */
export async function indexEverybody(db: Database): Promise<number> {
  const startedAt = performance.now();
  // The last part counts as a launch, after which the function waits: its result only ends the loop early.
  while (await isBehind(db)) await indexAttendees(db, 0, INDEXED_AT_ONCE);
  const { rows } = await sql<{ count: number }>`select count(*) as count from search_entries`.execute(db);
  await sql`vacuum analyze search_entries`.execute(db);
  return rows[0]!.count / ((performance.now() - startedAt) / 1_000);
}

async function isBehind(db: Database): Promise<boolean> {
  const { rows } = await sql<{ behind: boolean }>`
    select coalesce((select last_offset from attendee_scans where shard_id = 0), 0) < last_offset as behind
    from journal_heads where shard_id = 0`.execute(db);
  return rows[0]!.behind;
}

/** Finds attendees of a history: their names and addresses are digests of their serials. */
export async function timeFinds(db: Database, eventId: number): Promise<Values> {
  const { rows } = await sql<{ first: number; last: number }>`
    select min(serial) as first, max(serial) as last from registrations where event_id = ${eventId}`.execute(
    db,
  );
  const { first, last } = rows[0]!;
  const prefix = () =>
    randomInt(16 ** 4)
      .toString(16)
      .padStart(4, '0');
  const byEither = (of: AttendeeQuery, at: number): AttendeeQuery => ({
    ...of,
    text: at % 2 === 0 ? `Guest ${prefix()}` : prefix(),
  });
  const time = async (name: string, queryOf: (at: number) => AttendeeQuery): Promise<Values> => {
    const times: number[] = [];
    for (let at = 0; at < FINDS; at += 1) {
      const startedAt = performance.now();
      await findAttendees(db, queryOf(at), PAGE);
      times.push(performance.now() - startedAt);
    }
    return { [`${name} p50 ms`]: quantile(times, 0.5), [`${name} p99 ms`]: quantile(times, 0.99) };
  };
  return {
    ...(await time('found in an event', (at) => byEither({ eventId }, at))),
    ...(await time('found in all', (at) => byEither({}, at))),
    ...(await time('page of attendees', () => ({ eventId, after: randomInt(first, last + 1) }))),
  };
}
