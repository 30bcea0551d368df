import { sql } from 'kysely';
import type { Database, JournalKind } from '@floodgate/database';

/** Whose entries are read. */
export interface JournalFilter {
  shardId: number;
  eventId: number;
  /** 0: the event's own entries, about its tickets. */
  partnerId: number;
  /** All kinds where it is missing. */
  kinds?: readonly JournalKind[];
}

/** Something that happened to a registration, or to a ticket. */
export interface JournalEntry {
  /** Its place in the history of the shard. */
  offset: number;
  kind: JournalKind;
  at: Date;
  /** The registration; null where the entry is about a ticket. */
  serial: number | null;
  ticketId: number | null;
}

export interface JournalPage {
  entries: JournalEntry[];
  /** Where the next page begins: everything up to here was read, or left out by the filter. */
  cursor: number;
  /** Whether there is more already. */
  more: boolean;
}

/** A segment, cut to what the page has room for. */
interface Piece {
  kind: JournalKind;
  at: Date;
  ticketId: number | null;
  lastOffset: number;
  /** How many of its entries belong to the page, from `firstOffset` on. */
  size: number;
  firstOffset: number;
  /** Of the entry at `firstOffset`, where serials follow each other. */
  firstSerial: number | null;
  serials: number[] | null;
}

/**
 * Reads up to `limit` entries that come after the offset `after` (0: from the beginning), in the order of their shard. What
 * is committed later comes later: a reader that goes on from `cursor` skips nothing and sees nothing twice. The cost is that
 * of what is returned, however long the history is.
 */
export async function readJournal(
  db: Database,
  { shardId, eventId, partnerId, kinds }: JournalFilter,
  after: number,
  limit: number,
): Promise<JournalPage> {
  // A segment has at least one entry, so one more than the limit is enough to know whether there is more.
  const { rows } = await sql<Piece & { isCut: boolean }>`
    with segment as materialized (
      select *, greatest(last_offset - count, ${after}::bigint) as "before"
      from journal_segments
      where shard_id = ${shardId} and event_id = ${eventId} and partner_id = ${partnerId}
        and last_offset > ${after}::bigint
        ${kinds ? sql`and kind = any(${[...kinds]}::text[])` : sql``}
      order by last_offset
      limit ${limit + 1}
    ),
    counted as (
      select *, sum(last_offset - "before") over (order by last_offset) - (last_offset - "before") as taken
      from segment
    )
    select kind, at, ticket_id as "ticketId", last_offset as "lastOffset", "before" + 1 as "firstOffset",
      least(last_offset - "before", ${limit} - taken) as size,
      first_serial + ("before" - (last_offset - count)) as "firstSerial",
      to_json(serials[("before" - (last_offset - count) + 1)::integer
        : ("before" - (last_offset - count) + ${limit} - taken)::integer]) as serials
    from counted
    where taken <= ${limit}
    order by last_offset`.execute(db);
  const pieces = rows.filter(({ size }) => size > 0);
  const last = pieces.at(-1);
  const cursor = last ? last.firstOffset + last.size - 1 : after;
  const more = rows.length > pieces.length || (last !== undefined && cursor < last.lastOffset);
  return { entries: pieces.flatMap(entriesOf), cursor, more };
}

function entriesOf({ kind, at, ticketId, size, firstOffset, firstSerial, serials }: Piece): JournalEntry[] {
  return Array.from({ length: size }, (_, index) => {
    const serial = serials?.[index] ?? (firstSerial === null ? null : firstSerial + index);
    return { offset: firstOffset + index, kind, at, serial, ticketId };
  });
}
