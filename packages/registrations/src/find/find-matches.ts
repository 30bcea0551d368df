import { askShards, plainArray, textArray, type Database } from '@floodgate/database';
import { sql } from 'kysely';

/** A search in each shard. */
export interface Search {
  /** All must match. None: every entry of the events does. */
  terms: readonly string[];
  /** Null: all events. */
  events: readonly number[] | null;
}

/** The part of the matches that is asked for, from a serial on. */
export interface Range {
  from: number;
  /** `older`: below `from`, the newest first. `newer`: above it, the oldest first. */
  direction: 'older' | 'newer';
  most: number;
}

/** A registration or an entry of a waiting list, by its shard and serial. */
export interface Match {
  shardId: number;
  serial: number;
}

/** Every serial is older. */
export const NEWEST = Number.MAX_SAFE_INTEGER;

/** Returns the matches of a shard, in the order of the range. */
export async function searchShard(db: Database, shardId: number, { terms, events }: Search, range: Range) {
  const { from, direction, most } = range;
  const [olderThan, newerThan] = direction === 'older' ? [from, null] : [null, from];
  const { rows } = await sql<{ serials: string[] }>`
    select find_entries(
      ${shardId}::integer, ${textArray(terms) ?? '{}'}::text[], ${events && plainArray(events)}::integer[],
      ${olderThan}::bigint, ${newerThan}::bigint, ${most}::integer
    ) as serials`.execute(db);
  // The driver has no numbers in lists of this type.
  return rows[0]!.serials.map((serial): Match => ({ shardId, serial: Number(serial) }));
}

/** Returns the matches of all these shards, in the order of the range. `away`: shards that do not answer. */
export async function findMatches(db: Database, shards: readonly number[], search: Search, range: Range) {
  const { answers, away } = await askShards(shards, (shardId) => searchShard(db, shardId, search, range));
  const sign = range.direction === 'older' ? -1 : 1;
  const matches = answers.flat().toSorted((one, other) => sign * (one.serial - other.serial));
  return { matches: matches.slice(0, range.most), away };
}

/** Returns whether what was sold before an upgrade is still being added to the search. */
export async function isRefilling(db: Database, shards: readonly number[]) {
  const { answers } = await askShards(shards, async (shardId) => {
    const { rows } = await sql`
      select from attendee_scans where shard_id = ${shardId} and refill_below > 0`.execute(db);
    return rows.length > 0;
  });
  return answers.includes(true);
}
