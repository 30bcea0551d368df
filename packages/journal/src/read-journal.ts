import { sql } from 'kysely';
import type { Database, JournalKind } from '@floodgate/database';
import { selectSegments, type JournalScope } from './select-segments.ts';

/** Whose entries are read, and which of them: all kinds where `kinds` is missing. */
export type JournalFilter = JournalScope & { kinds?: readonly JournalKind[] };

/** Something that happened to a registration, or to a ticket. */
export interface JournalEntry {
  /** Its place in the history of the shard. */
  offset: number;
  kind: JournalKind;
  at: Date;
  eventId: number;
  partnerId: number;
  /** The registration; null where the entry is about a ticket. */
  serial: number | null;
  ticketId: number | null;
}

export interface JournalPage {
  entries: JournalEntry[];
  /** Where the next page begins: everything up to here was read, or left out by the filter. */
  cursor: number;
  /** Whether there may be more already. */
  more: boolean;
}

/** Why there is nothing to go on from: what comes after the cursor was deleted, or the history never was as long. */
export type CursorProblem = 'cursor-expired' | 'cursor-ahead';

/** Segments of the first look. Every further one looks at twice as many, so that none reads much more than is needed. */
const FIRST_LOOK = 16;
/** Segments that a call looks at, or as many as it may return entries. */
const SEGMENTS_PER_CALL = 2_000;

/**
 * Reads up to `limit` entries that come after the offset `after` (0: from the oldest that is kept), in the order of their shard.
 * What is committed later comes later: a reader that goes on from `cursor` skips nothing and sees nothing twice.
 *
 * The cost is that of what is returned, however long the history is. A call looks at 2,000 segments or `limit`, whichever is more:
 * where the kinds are rare, a page may be short, or empty, and say that there is more. Its cursor has moved on nevertheless,
 * past everything that was looked at.
 */
export async function readJournal(
  db: Database,
  { kinds, ...scope }: JournalFilter,
  after: number,
  limit: number,
): Promise<JournalPage | CursorProblem> {
  const page: JournalPage = { entries: [], cursor: after, more: true };
  const segmentsPerCall = Math.max(SEGMENTS_PER_CALL, limit);
  for (let looked = 0, look = FIRST_LOOK; looked < segmentsPerCall; look *= 2) {
    const wanted = limit - page.entries.length;
    const segments = Math.min(look, segmentsPerCall - looked);
    const part = await readSegments(db, { ...scope, ...(kinds && { kinds }) }, page.cursor, wanted, segments);
    if (typeof part === 'string') return part;
    page.entries.push(...part.entries);
    Object.assign(page, { cursor: part.cursor, more: part.more });
    if (!page.more || page.entries.length === limit) break;
    looked += segments;
  }
  return page;
}

/** A segment, cut to what the page has room for. */
interface Piece {
  kind: JournalKind;
  at: Date;
  eventId: number;
  partnerId: number;
  ticketId: number | null;
  /** The last offset before what is read of it. */
  before: number;
  /** How many entries after that belong to the page. */
  size: number;
  /** Whether the page ends with it, or before it. */
  isEnd: boolean;
  /** Of the first of them, where serials follow each other. */
  firstSerial: number | null;
  serials: number[] | null;
}

/** Reads a page of what so many segments hold. */
async function readSegments(
  db: Database,
  { kinds, ...scope }: JournalFilter,
  after: number,
  limit: number,
  segments: number,
): Promise<JournalPage | CursorProblem> {
  const { shardId } = scope;
  const { rows } = await sql<(Piece | { isEnd: null }) & { head: number; keptAfter: number }>`
    with head as (
      select last_offset as head, coalesce((
        select last_offset - count from journal_segments where shard_id = ${shardId} order by last_offset limit 1
      ), last_offset) as kept_after
      from journal_heads where shard_id = ${shardId}
    ),
    segment as materialized (${selectSegments(scope, after, segments + 1)}),
    measured as (
      select *, last_offset - count as start, greatest(last_offset - count, ${after}::bigint) as "before",
        row_number() over (order by last_offset) > ${segments} as is_beyond,
        ${kinds ? sql`kind = any(${[...kinds]}::text[])` : sql`true`} as is_wanted
      from segment
    ),
    counted as (
      select *, case when is_wanted then last_offset - "before" else 0 end as whole,
        coalesce(sum(last_offset - "before") filter (where is_wanted) over (
          order by last_offset rows between unbounded preceding and 1 preceding
        ), 0) as taken
      from measured
    ),
    cut as (
      select *, case when is_beyond then 0 else least(whole, ${limit} - taken) end as size
      from counted where taken <= ${limit}
    )
    select head, kept_after as "keptAfter", kind, at, event_id as "eventId", partner_id as "partnerId",
      ticket_id as "ticketId", "before", size, is_beyond or size < whole as "isEnd",
      first_serial + ("before" - start) as "firstSerial",
      case when size > 0
        then to_json(serials["before" - start + 1 : "before" - start + size]) end as serials
    from head left join cut on true
    order by last_offset`.execute(db);
  const { head, keptAfter } = rows[0]!;
  if (after > head) return 'cursor-ahead';
  if (after > 0 && after < keptAfter) return 'cursor-expired';
  const pieces = rows.filter((row) => row.isEnd !== null);
  const entries = pieces.flatMap(entriesOf);
  const end = pieces.find(({ isEnd }) => isEnd);
  if (end) return { entries, cursor: end.before + end.size, more: true };
  // Read to the end. Who has no history has not begun: as long as nobody has, an event may move to another shard.
  return { entries, cursor: pieces.length === 0 && after === 0 ? 0 : head, more: false };
}

function entriesOf({ size, before, firstSerial, serials, ...piece }: Piece): JournalEntry[] {
  const { kind, at, eventId, partnerId, ticketId } = piece;
  return Array.from({ length: size }, (_, index) => {
    const serial = serials?.[index] ?? (firstSerial === null ? null : firstSerial + index);
    return { offset: before + 1 + index, kind, at, eventId, partnerId, serial, ticketId };
  });
}
