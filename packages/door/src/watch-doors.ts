import { addUp, askShards, type Database } from '@floodgate/database';
import type { Clock } from '@floodgate/service';
import { sql } from 'kysely';
import { fromSilentDevices } from './silent-devices.ts';

// The doors of all events that need attention.

const NEW_MS = 15 * 60_000;
/** A worker that starts looks for conflicts in this many of the last entries of each journal. */
const FIRST_ENTRIES = 50_000;

/** Figures of the alerts about doors. */
export interface DoorFigures {
  /** Devices that should be in contact, but were not for five minutes. */
  silentDevices: number;
  /** The longest time for which a device has been behind; null: none is. */
  waitingMs: number | null;
  /** Conflicts that became known within 15 minutes. */
  newConflicts: number;
}

interface Facts {
  silent: number;
  /** The devices that have reported more scans than were received. */
  behind: number[];
  /** The last entry of the journal. */
  head: number;
  /** Those that the journal lists after the last read entry, each with the time since then. */
  conflicts: { count: number; ageMs: number }[];
}

/** The facts of a shard since its last read. */
interface Memory {
  /** Null: nothing was read yet. */
  head: number | null;
  /** By device: since when it is behind. */
  behindSince: Map<number, number>;
  conflicts: { count: number; at: number }[];
}

/**
 * Returns a function that reads the figures of the shards that answer. It must be called again and again: no
 * table says since when a device is behind.
 */
export function watchDoors(db: Database, shards: () => Promise<readonly number[]>, clock: Clock) {
  const memories = new Map<number, Memory>();
  return async (): Promise<DoorFigures> => {
    const { answers } = await askShards(await shards(), async (shardId) => {
      const before = memories.get(shardId) ?? { head: null, behindSince: new Map(), conflicts: [] };
      const facts = await readFacts(db, shardId, before.head);
      const memory = remember(before, facts, clock.now());
      memories.set(shardId, memory);
      return figuresOf(facts.silent, memory, clock.now());
    });
    return answers.reduce(addUp);
  };
}

function remember(before: Memory, { head, behind, conflicts }: Facts, now: number): Memory {
  const added = conflicts.map(({ count, ageMs }) => ({ count, at: now - ageMs }));
  return {
    head,
    behindSince: new Map(behind.map((id) => [id, before.behindSince.get(id) ?? now])),
    conflicts: [...before.conflicts, ...added].filter(({ at }) => now - at < NEW_MS),
  };
}

const figuresOf = (silentDevices: number, { behindSince, conflicts }: Memory, now: number): DoorFigures => ({
  silentDevices,
  waitingMs: behindSince.size === 0 ? null : now - Math.min(...behindSince.values()),
  newConflicts: conflicts.reduce((sum, { count }) => sum + count, 0),
});

/**
 * Conflicts are read from the journal, which has them in the order in which they became known. An admission
 * has only the time of its scan: after an outage it is old.
 */
async function readFacts(db: Database, shard: number, lastRead: number | null): Promise<Facts> {
  const after = lastRead === null ? sql`h.last_offset - ${FIRST_ENTRIES}::bigint` : sql`${lastRead}::bigint`;
  const { rows } = await sql<Facts>`
    select
      (select count(*)::integer ${fromSilentDevices(shard)}) as silent,
      (
        select coalesce(json_agg(d.id), '[]') from devices d
        where d.shard_id = ${shard} and d.last_counter > d.received and d.revoked_at is null
      ) as behind,
      h.last_offset as head,
      (
        select coalesce(json_agg(json_build_object(
          'count', s.count, 'ageMs', extract(epoch from now() - s.at) * 1000
        )), '[]')
        from journal_segments s
        where s.shard_id = ${shard} and s.last_offset > ${after} and s.kind = 'admitted_again'
          and s.at > now() - ${NEW_MS} * interval '1 ms'
      ) as conflicts
    from journal_heads h where h.shard_id = ${shard}`.execute(db);
  return rows[0]!;
}
