import { sign } from 'node:crypto';
import { formatTimestamp } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import { findEvent } from '@floodgate/events';
import { readJournal, type CursorProblem } from '@floodgate/journal';
import type { SigningKey } from './token.ts';

// The two signed documents that a door needs besides the keys: the event as it is now, and the revoked passes.

const DAY_MS = 86_400_000;

/** Returns when passes of an event are valid: one day longer on both sides, because doors open early and evenings run late. */
export function validityOf({ startsAt, endsAt }: { startsAt: Date | null; endsAt: Date | null }) {
  return {
    validFrom: startsAt && formatTimestamp(new Date(startsAt.getTime() - DAY_MS)),
    validUntil: endsAt && formatTimestamp(new Date(endsAt.getTime() + DAY_MS)),
  };
}

/** An event as doors see it. A new revision replaces the old one, so a moved event needs no new passes. */
export interface EventDocument {
  event: number;
  eventRef: string;
  /** Rises with every change of the event. */
  revision: number;
  name: string;
  venue: string | null;
  timeZone: string | null;
  startsAt: string | null;
  endsAt: string | null;
  validFrom: string | null;
  validUntil: string | null;
  /** When the event was read. Doors use it to detect a document that is too old. */
  at: string;
}

/** Reads the current document of an event. Throws if there is no such event. */
export async function readEventDocument(db: Database, eventId: number): Promise<EventDocument> {
  const at = formatTimestamp(new Date());
  const event = await findEvent(db, eventId);
  const { ref: eventRef, revision, name, venue, timeZone, startsAt, endsAt } = event;
  const times = {
    startsAt: startsAt && formatTimestamp(startsAt),
    endsAt: endsAt && formatTimestamp(endsAt),
  };
  return { event: eventId, eventRef, revision, name, venue, timeZone, ...times, ...validityOf(event), at };
}

/** Whose revoked passes: one partner's under an event, or (null) every partner's. */
export interface RevocationScope {
  shardId: number;
  eventId: number;
  partnerId: number | null;
}

/** A page of revoked passes. A reader that has the page before can see whether a page is missing. */
export interface Revocations {
  event: number;
  /** Null: all partners. */
  partner: number | null;
  /** The cursor of the page before. */
  after: string;
  cursor: string;
  more: boolean;
  serials: number[];
  at: string;
}

/**
 * Reads the passes that were revoked after a cursor, each once and in order. A page may be short, or empty, although there is more.
 */
export async function readRevocations(
  db: Database,
  { shardId, eventId, partnerId }: RevocationScope,
  after: number,
  limit: number,
): Promise<Revocations | CursorProblem> {
  const scope = { shardId, eventId, partnerId: partnerId ?? undefined };
  // Taken before the read: a pass that is revoked meanwhile may be missing from this page.
  const at = new Date().toISOString();
  const page = await readJournal(db, { ...scope, kinds: ['cancelled'] }, after, limit);
  if (typeof page === 'string') return page;
  const { cursor, more, entries } = page;
  const serials = entries.map(({ serial }) => serial!);
  return {
    event: eventId,
    partner: partnerId,
    after: String(after),
    cursor: String(cursor),
    more,
    serials,
    at,
  };
}

/** Returns a document as a compact JWS (RFC 7515, EdDSA) of its own type, so that neither is accepted in place of the other. */
export function signDocument(
  type: 'floodgate-event' | 'floodgate-revocations',
  document: EventDocument | Revocations,
  { id, privateKey }: SigningKey,
): string {
  const header = { alg: 'EdDSA', kid: String(id), typ: type };
  const text = [header, document]
    .map((content) => Buffer.from(JSON.stringify(content)).toString('base64url'))
    .join('.');
  return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`;
}
