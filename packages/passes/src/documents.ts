import { formatTimestamp } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { findEvent } from '@floodgate/events';
import { readJournal, type CursorProblem } from '@floodgate/journal';

// The two signed documents that a door needs in addition to the keys: the current event, and the revoked
// passes.

const DAY_MS = 86_400_000;

const timeOf = (instant: Date | null, laterMs = 0) =>
  instant && formatTimestamp(new Date(instant.getTime() + laterMs));

/** The validity of passes; null: the time is not known. */
export interface Validity {
  validFrom: string | null;
  validUntil: string | null;
}

/**
 * Returns the validity of passes of an event: one day longer on both sides, because doors open early and
 * events end late.
 */
export const validityOf = ({
  startsAt,
  endsAt,
}: {
  startsAt: Date | null;
  endsAt: Date | null;
}): Validity => ({
  validFrom: timeOf(startsAt, -DAY_MS),
  validUntil: timeOf(endsAt, DAY_MS),
});

/** An event as doors know it. Its fields are part of the signed format. */
export interface EventDocument extends Validity {
  event: number;
  eventRef: string;
  revision: number;
  name: string;
  venue: string | null;
  timeZone: string | null;
  startsAt: string | null;
  endsAt: string | null;
  /** When it was read. */
  at: string;
}

/**
 * Reads the event document. Throws if the event does not exist. The revision increases with every change to
 * the event, and a new document replaces the old one, so a moved event needs no new passes. Doors use `at` to
 * detect a stale document.
 */
export async function readEventDocument(db: Database, eventId: number): Promise<EventDocument> {
  const at = formatTimestamp(new Date());
  const event = await findEvent(db, eventId);
  const { ref: eventRef, revision, name, venue, timeZone } = event;
  const times = { startsAt: timeOf(event.startsAt), endsAt: timeOf(event.endsAt), ...validityOf(event) };
  return { event: eventId, eventRef, revision, name, venue, timeZone, ...times, at };
}

/** A page of revoked passes. */
export interface Revocations {
  event: number;
  /** Null: of all partners. */
  partner: number | null;
  /** The cursor of the previous page, and of this one. */
  after: string;
  cursor: string;
  more: boolean;
  serials: number[];
  /** When it was read. */
  at: string;
}

/**
 * Reads the passes of one partner under an event, or (null) of every partner, that were revoked after a
 * cursor: each once and in order. A page can be short or empty even if more pages follow. A reader compares
 * `after` with the previous cursor to detect a missing page.
 */
export async function readRevocations(
  db: Database,
  { shardId, eventId, partnerId }: { shardId: number; eventId: number; partnerId: number | null },
  after: number,
  limit: number,
): Promise<Revocations | CursorProblem> {
  const scope = { shardId, eventId, partnerId: partnerId ?? undefined };
  // Taken before the read, because the page may lack a pass that is revoked during the read.
  const at = new Date().toISOString();
  const page = await readJournal(db, { ...scope, kinds: ['cancelled'] }, after, limit);
  if (typeof page === 'string') return page;
  const { more, entries } = page;
  const cursors = { after: String(after), cursor: String(page.cursor) };
  const serials = entries.map(({ serial }) => serial!);
  return { event: eventId, partner: partnerId, ...cursors, more, serials, at };
}
