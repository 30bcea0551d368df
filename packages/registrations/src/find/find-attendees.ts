import { Cursor, Id, oneOf, text } from '@floodgate/audit';
import { typedAs } from '@floodgate/audit/input';
import { shardIds, type Database } from '@floodgate/database';
import { findEvent } from '@floodgate/events';
import { InvalidInput } from '@floodgate/service/failure';
import { Type, type Static } from '@sinclair/typebox';
import { sql } from 'kysely';
import { findByReference, KINDS } from '../list/list-registrations.ts';
import { findMatches, isRefilling, NEWEST, type Match, type Search } from './find-matches.ts';
import { pageOf, rangeOf } from './pages.ts';
import { readHit, readHits, type Hit } from './read-hits.ts';
import { passReferenceIn, termsOf } from './search-terms.ts';

/**
 * Makes up to `limit` further registrations of a shard known to findAttendees. Returns whether it should be
 * called again immediately: during a launch, only if it is five seconds behind.
 */
export async function indexAttendees(db: Database, shardId: number, limit: number) {
  const { rows } = await sql<{ again: boolean }>`
    select index_attendees(${shardId}::integer, ${limit}::integer) as again`.execute(db);
  return rows[0]!.again;
}

export const State = oneOf(KINDS, 'confirmed, cancelled or failed');

const FOUND_STATES = [...KINDS, 'held', 'waiting'] as const;

/** Attendees to find: by a text, or all of an event. */
export const AttendeeQuery = Type.Object({
  /** Read by termsOf and passReferenceIn. */
  text: Type.Optional(text(1, 255)),
  /** Absent: of all events. */
  eventId: typedAs('--event', Type.Optional(Id)),
  partnerId: typedAs('--partner', Type.Optional(Id)),
  ticketId: typedAs('--ticket', Type.Optional(Id)),
  state: Type.Optional(oneOf(FOUND_STATES, 'confirmed, cancelled, failed, held or waiting')),
  /** Continues with older ones. */
  after: Cursor,
  /** Goes back to newer ones. */
  before: Cursor,
});
export type AttendeeQuery = Static<typeof AttendeeQuery>;

/** A page of a search, the newest first. */
export interface FoundAttendees {
  attendees: Hit[];
  /** Hits on all pages, at most 1,000. With filters, those among the newest 1,000. */
  total: number;
  moreThanTotal: boolean;
  /** The cursor of the next page, as `after`. Null: there are no older ones. */
  cursor: number | null;
  more: boolean;
  /** The cursor of the previous page, as `before`. Null: there are no newer ones. */
  previous: number | null;
  /** Whether what was sold before an upgrade is still being added to the search. */
  incomplete: boolean;
  shardsAway: number[];
}

/** Hits are counted up to here. With filters, this many are read for one page, whatever the filters leave. */
const COUNTED = 1_000;

/**
 * Finds registrations, also held and cancelled ones, and entries of waiting lists: by the beginning of any
 * words of the name, the address or the partner's reference, by the digits of a phone number, or by a pass
 * reference. All words of the text must match. One is found a few seconds after it was confirmed or failed,
 * or joined the list. With filters, a page can be short or empty although there is more: continue from the
 * cursor. `events`: only those of these events.
 */
export async function findAttendees(
  db: Database,
  query: AttendeeQuery,
  limit: number,
  events: readonly number[] | null = null,
): Promise<FoundAttendees> {
  const exact = (await findByPass(db, query)).filter((hit) => events?.includes(hit.eventId) ?? true);
  if (exact.length > 0) return { ...WHOLE, attendees: exact, total: exact.length };
  const { text: given = '', eventId = null } = query;
  const terms = termsOf(given);
  assertSearch(query, terms);
  const shards = eventId === null ? await shardIds(db) : [(await findEvent(db, eventId)).shardId];
  return findPage(db, shards, { terms, events: eventId === null ? events : [eventId] }, query, limit);
}

function assertSearch({ text: given, eventId, after, before }: AttendeeQuery, terms: readonly string[]) {
  if (given === undefined && eventId === undefined) throw new InvalidInput({ text: 'a text, or an event' });
  if (given !== undefined && terms.length === 0) throw new InvalidInput({ text: 'with a letter or a digit' });
  if (after !== undefined && before !== undefined) throw new InvalidInput({ before: 'not with after' });
}

/** Of a page that has everything. */
const WHOLE = {
  moreThanTotal: false,
  cursor: null,
  more: false,
  previous: null,
  incomplete: false,
  shardsAway: [],
};

/** Returns the registration whose pass reference is the text, or none. */
async function findByPass(db: Database, query: AttendeeQuery) {
  const passReference = passReferenceIn(query.text ?? '');
  const found = passReference === null ? null : await findByReference(db, passReference);
  return found ? leaveMatches(await readHit(db, found.shardId, found.row.serial), query) : [];
}

const leaveMatches = (hits: readonly Hit[], { eventId, partnerId, ticketId, state }: AttendeeQuery) =>
  hits
    .filter(
      (hit) => (eventId ?? hit.eventId) === hit.eventId && (partnerId ?? hit.partnerId) === hit.partnerId,
    )
    .filter((hit) => (ticketId ?? hit.ticketId) === hit.ticketId && (state ?? hit.state) === hit.state);

/** Reads hits that the filters leave, in the order of the matches. */
async function hitsOf(db: Database, matches: readonly Match[], query: AttendeeQuery) {
  const hits: Hit[] = [];
  const byShard = Map.groupBy(matches, ({ shardId }) => shardId);
  for (const [shardId, ofShard] of byShard) {
    const serials = ofShard.map(({ serial }) => serial);
    hits.push(...(await readHits(db, shardId, serials)));
  }
  const bySerial = new Map(leaveMatches(hits, query).map((hit) => [hit.serial, hit]));
  return matches.flatMap(({ serial }) => bySerial.get(serial) ?? []);
}

/** Returns the hits that filters leave. Without filters, the matches. */
const filtered = (db: Database, matches: readonly Match[], query: AttendeeQuery, hasFilters: boolean) =>
  hasFilters ? hitsOf(db, matches, query) : matches;

async function findPage(
  db: Database,
  shards: readonly number[],
  search: Search,
  query: AttendeeQuery,
  limit: number,
): Promise<FoundAttendees> {
  const hasFilters = [query.partnerId, query.ticketId, query.state].some((filter) => filter !== undefined);
  const range = rangeOf(query, hasFilters ? Math.max(COUNTED, limit) : limit + 1);
  const start = { from: NEWEST, direction: 'older', most: COUNTED + 1 } as const;
  const { matches: newest, away } = await findMatches(db, shards, search, start);
  const counted = newest.slice(0, COUNTED);
  // The first page is counted and read by one search.
  const isCounted = range.from === NEWEST && range.direction === 'older' && range.most <= start.most;
  const { matches } = isCounted
    ? { matches: newest.slice(0, range.most) }
    : await findMatches(db, shards, search, range);
  const hits = await hitsOf(db, matches, query);
  const countedHits = isCounted && hasFilters ? hits : await filtered(db, counted, query, hasFilters);
  return {
    ...pageOf(hits, matches, range, limit),
    total: countedHits.length,
    moreThanTotal: newest.length > COUNTED,
    incomplete: await isRefilling(db, shards),
    shardsAway: away,
  };
}
