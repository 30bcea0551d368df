import type { Database, JournalKind } from '@floodgate/database';
import { sql, type RawBuilder } from 'kysely';

/**
 * The entries of an event, or of one partner under that event, with or without the entries about the event's
 * tickets.
 */
export interface JournalFilter {
  shardId: number;
  eventId: number;
  /** 0: only the entries about the event's tickets. */
  partnerId?: number | undefined;
  withTickets?: boolean;
  /** All kinds by default. */
  kinds?: readonly JournalKind[];
}

/** A change of a registration or a ticket. */
export interface JournalEntry {
  /** Its position in the journal of the shard. */
  offset: number;
  kind: JournalKind;
  at: Date;
  eventId: number;
  partnerId: number;
  /** The registration; null if the entry is about a ticket. */
  serial: number | null;
  ticketId: number | null;
  /**
   * Whether an operator cancelled the registration, or its partner. Null: neither did, or it is no
   * cancellation.
   */
  byOperator: boolean | null;
}

export interface JournalPage {
  entries: JournalEntry[];
  /** Offset up to which everything was read or excluded by the filter. The next page starts after it. */
  cursor: number;
  /** Whether more entries may follow. */
  more: boolean;
}

/**
 * Why a read cannot continue from a cursor: the entries after it have expired, or the journal has never
 * reached it.
 */
export type CursorProblem = 'cursor-expired' | 'cursor-ahead';

/**
 * Segments of the first read. Each further read covers twice as many, so no read covers much more than
 * needed.
 */
const FIRST_READ = 16;
/** Maximum number of segments per call, unless its limit of entries is larger. */
const SEGMENTS_PER_CALL = 2_000;

/**
 * Reads up to `limit` entries after the offset `after` (0: from the oldest entry that is kept), in the order
 * of the shard. Later commits have later offsets, so a reader that continues from `cursor` skips nothing and
 * reads nothing twice.
 *
 * The cost depends on the entries that are returned, not on the length of the journal. A call reads at most
 * 2,000 segments, or `limit` if that is more. If the kinds are rare, a page can be short or empty although
 * more entries follow. Its `cursor` is then after everything that was read.
 */
export async function readJournal(
  db: Database,
  filter: JournalFilter,
  after: number,
  limit: number,
): Promise<JournalPage | CursorProblem> {
  const page: JournalPage = { entries: [], cursor: after, more: true };
  const segmentsPerCall = Math.max(SEGMENTS_PER_CALL, limit);
  for (let total = 0, size = FIRST_READ; total < segmentsPerCall; total += size, size *= 2) {
    const wanted = limit - page.entries.length;
    const segments = Math.min(size, segmentsPerCall - total);
    const next = await readSegments(db, filter, page.cursor, wanted, segments);
    if (typeof next === 'string') return next;
    page.entries.push(...next.entries);
    page.cursor = next.cursor;
    page.more = next.more;
    if (!page.more || page.entries.length === limit) break;
  }
  return page;
}

/** A segment, cut to the limit of the page. */
interface SegmentSlice extends Omit<JournalEntry, 'offset' | 'serial'> {
  /** The last offset before the slice. */
  before: number;
  /** Number of entries in the slice. */
  size: number;
  /** Whether the page ends with this slice or before it. */
  isEnd: boolean;
  /** The serial of its first entry, if serials are consecutive. */
  firstSerial: number | null;
  serials: number[] | null;
}

/** Reads a page from the next `segments` segments. */
async function readSegments(
  db: Database,
  filter: JournalFilter,
  after: number,
  limit: number,
  segments: number,
): Promise<JournalPage | CursorProblem> {
  const { shardId, kinds } = filter;
  const { rows } = await sql<(SegmentSlice | { isEnd: null }) & { head: number; keptAfter: number }>`
    with head as (
      -- An aggregate has a row also for a shard without a head, whose journal is empty.
      select coalesce(max(last_offset), 0) as head, coalesce((
        select last_offset - count from journal_segments where shard_id = ${shardId} order by last_offset limit 1
      ), max(last_offset), 0) as kept_after
      from journal_heads where shard_id = ${shardId}
    ),
    segment as materialized (${selectSegments(filter, after, segments + 1)}),
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
      ticket_id as "ticketId", by_operator as "byOperator", "before", size, is_beyond or size < whole as "isEnd",
      first_serial + ("before" - start) as "firstSerial",
      case when size > 0
        then to_json(serials["before" - start + 1 : "before" - start + size]) end as serials
    from head left join cut on true
    order by last_offset`.execute(db);
  const { head, keptAfter } = rows[0]!;
  if (after > head) return 'cursor-ahead';
  if (after > 0 && after < keptAfter) return 'cursor-expired';
  const slices = rows.filter((row) => row.isEnd !== null);
  const entries = slices.flatMap(entriesOf);
  const end = slices.find(({ isEnd }) => isEnd);
  if (end) return { entries, cursor: end.before + end.size, more: true };
  // The journal was read to its end. Without history the cursor stays 0, because an event without history may
  // still move to another shard.
  return { entries, cursor: slices.length === 0 && after === 0 ? 0 : head, more: false };
}

function entriesOf({ size, before, firstSerial, serials, ...slice }: SegmentSlice): JournalEntry[] {
  const { kind, at, eventId, partnerId, ticketId, byOperator } = slice;
  return Array.from({ length: size }, (_, index) => {
    const serial = serials?.[index] ?? (firstSerial === null ? null : firstSerial + index);
    return { offset: before + 1 + index, kind, at, eventId, partnerId, serial, ticketId, byOperator };
  });
}

/**
 * Returns the query for the first `limit` segments that end after the offset `after`, in order. It reads no
 * other segments. For a whole event it reads up to `limit` segments of each partner.
 */
function selectSegments(filter: JournalFilter, after: number, limit: number): RawBuilder<unknown> {
  const { shardId, eventId, partnerId, withTickets } = filter;
  // The limits are literals: without known limits, the planner might read and sort everything. Rows are
  // compared and sorted, so that only the index on a partner's segments qualifies. With the primary key,
  // which is also sorted by offset, Postgres would read the segments of all partners.
  const ofPartner = (partner: RawBuilder<unknown>) => sql`
    select * from journal_segments
    where shard_id = ${shardId}
      and (event_id, partner_id, last_offset) > (${eventId}::integer, ${partner}, ${after}::bigint)
      and (event_id, partner_id, last_offset) < (${eventId}::integer, ${partner} + 1, 0)
    order by event_id, partner_id, last_offset limit ${sql.lit(limit)}`;
  const own = ofPartner(sql`${partnerId}::integer`);
  if (withTickets)
    return sql`
      select * from ((${own}) union all (${ofPartner(sql`0`)})) segment
      order by last_offset limit ${sql.lit(limit)}`;
  if (partnerId !== undefined) return own;
  // One index lookup per partner.
  const nextPartner = (previous: RawBuilder<unknown>) => sql`
    select min(partner_id) from journal_segments
    where shard_id = ${shardId} and event_id = ${eventId}::integer and partner_id > ${previous}`;
  return sql`
    with recursive partner (id) as (
      (${nextPartner(sql`-1`)})
      union all
      select (${nextPartner(sql`partner.id`)}) from partner where id is not null
    )
    select segment.*
    from partner cross join lateral (${ofPartner(sql`partner.id`)}) segment
    order by last_offset limit ${sql.lit(limit)}`;
}

/**
 * Deletes up to `limit` of the oldest segments of a shard if they are older than `days`, and none after a
 * segment that is kept. Returns the number of deleted segments. Reads at most `limit` segments.
 */
export async function deleteOldSegments(db: Database, shardId: number, days: number, limit: number) {
  // Offsets follow time, except while a writer waits for the head. The array and the literal limit keep the
  // planner from expecting many rows, which would make it scan the whole table.
  const { numAffectedRows } = await sql`
    delete from journal_segments
    where shard_id = ${shardId} and last_offset = any(array(
      select last_offset
      from (
        select last_offset,
          bool_and(at < now() - make_interval(days => ${days}::integer)) over (order by last_offset) as is_old
        from journal_segments
        where shard_id = ${shardId}
        order by last_offset
        limit ${sql.lit(limit)}
      ) oldest
      where is_old
    ))`.execute(db);
  return Number(numAffectedRows);
}
