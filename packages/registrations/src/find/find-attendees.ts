import { Cursor, Id, oneOf, text } from '@floodgate/audit';
import { normalizeEmail, normalizeName } from '@floodgate/contract';
import { askShards, plainArray, shardIds, type Database } from '@floodgate/database';
import { findEvent } from '@floodgate/events';
import { InvalidInput } from '@floodgate/service/failure';
import { Type, type Static } from '@sinclair/typebox';
import { sql } from 'kysely';
import { KINDS } from '../list/list-registrations.ts';
import { findRegistrations, passReferenceOf, type RegistrationQuery } from '../status/find-registrations.ts';

/**
 * Makes up to `limit` further registrations of a shard known to findAttendees. Returns whether it should be
 * called again immediately: not during a launch.
 */
export async function indexAttendees(db: Database, shardId: number, limit: number) {
  const { rows } = await sql<{ again: boolean }>`
    select index_attendees(${shardId}::integer, ${limit}::integer) as again`.execute(db);
  return rows[0]!.again;
}

export const State = oneOf(KINDS, 'confirmed, cancelled or failed');

/**
 * Attendees to find. Prefixes ignore case. Without one, all attendees of the event match, in the order of
 * their names.
 */
export const AttendeeQuery = Type.Object({
  /** Absent: of all events. */
  eventId: Type.Optional(Id),
  namePrefix: Type.Optional(text(1, 255)),
  emailPrefix: Type.Optional(text(1, 254)),
  partnerId: Type.Optional(Id),
  ticketId: Type.Optional(Id),
  state: Type.Optional(State),
  /** Only with an event. */
  after: Cursor,
});
export type AttendeeQuery = Static<typeof AttendeeQuery>;

/** Names that are read for one page of an event, whatever the filters leave of them. */
const NAMES_PER_PAGE = 1_000;
/** Sorts after every text that begins with the prefix. */
const LAST_CHARACTER = '\u{10ffff}';

type Found = RegistrationQuery & Record<'fullName' | 'emailAddress', string>;

/**
 * Finds attendees by the beginning of their name or address. A registration is found a few seconds after it
 * was confirmed or failed. With filters, a page can be short or empty although there is more: continue from
 * the cursor. It is null for a search in all events, which cannot continue. `events`: only those of these.
 */
export async function findAttendees(
  db: Database,
  query: AttendeeQuery,
  limit: number,
  events?: readonly number[],
) {
  const page = await findByPrefix(db, query, limit, events);
  const stored = asStored(query);
  const isOther = stored.namePrefix !== query.namePrefix || stored.emailPrefix !== query.emailPrefix;
  // Asked for as it was sent: copied with marks, or with an internationalized domain. Older rows can have the
  // marks themselves.
  return isOther && page.attendees.length === 0 ? findByPrefix(db, stored, limit, events) : page;
}

/** Returns a query with the prefixes that new rows have. */
const asStored = ({ namePrefix, emailPrefix, ...query }: AttendeeQuery): AttendeeQuery => ({
  ...query,
  ...(namePrefix !== undefined && { namePrefix: normalizeName(namePrefix) || namePrefix }),
  ...(emailPrefix !== undefined && { emailPrefix: normalizeEmail(emailPrefix) || emailPrefix }),
});

async function findByPrefix(db: Database, query: AttendeeQuery, limit: number, events?: readonly number[]) {
  const { eventId, namePrefix, emailPrefix } = query;
  if (![eventId, namePrefix, emailPrefix].some(Boolean))
    throw new InvalidInput({ eventId: 'an event, or the beginning of a name or an address' });
  const shards = eventId === undefined ? await shardIds(db) : [(await findEvent(db, eventId)).shardId];
  const readLimit = eventId === undefined ? limit : NAMES_PER_PAGE;
  const { answers, away } = await askShards(shards, async (shardId) => {
    const found = await readShard(db, shardId, query, readLimit, events);
    return { found, matches: await matchesOf(db, found, query) };
  });
  const matches = answers.flatMap((answer) => answer.matches);
  const page = matches.slice(0, limit);
  const isCut = matches.length > limit;
  const last = isCut ? page.at(-1) : answers[0]!.found.at(-1);
  return {
    attendees: page.map(presented),
    cursor: eventId === undefined ? null : (last?.serial ?? query.after ?? 0),
    more: isCut || answers.some(({ found }) => found.length === readLimit),
    shardsAway: away,
  };
}

/** Returns those that the filters leave, in order. */
async function matchesOf(db: Database, all: readonly Found[], { partnerId, ticketId, state }: AttendeeQuery) {
  const rows = await findRegistrations(db, all);
  const matches = all.flatMap((found, index) => (rows[index] ? [{ ...rows[index], ...found }] : []));
  return matches
    .filter((match) => (partnerId ?? match.partnerId) === match.partnerId)
    .filter(
      (match) => (ticketId ?? match.ticketId) === match.ticketId && (state ?? match.state) === match.state,
    );
}

type Match = Awaited<ReturnType<typeof matchesOf>>[number];

const presented = (match: Match) => ({
  passReference: passReferenceOf(match),
  state: match.state,
  eventId: match.eventId,
  ticketId: match.ticketId,
  partnerId: match.partnerId,
  fullName: match.fullName,
  emailAddress: match.emailAddress,
});

/** Reads the next names or addresses of each event of a shard, in order. */
async function readShard(
  db: Database,
  shardId: number,
  query: AttendeeQuery,
  most: number,
  events?: readonly number[],
) {
  const { eventId = null, emailPrefix, namePrefix = '', after = 0 } = query;
  const column = sql.ref(emailPrefix === undefined ? 'name' : 'email');
  const prefix = sql`lower(${emailPrefix ?? namePrefix})`;
  const continues =
    after === 0
      ? sql`true`
      : sql`(${column}, serial) > (
          select ${column}, serial from attendees where shard_id = ${shardId} and serial = ${after}
        )`;
  const { rows } = await sql<Found>`
    select ${shardId}::integer as "shardId", a.id as "eventId", a.serial, r.partner_id as "partnerId",
      r.full_name as "fullName", r.email_address as "emailAddress"
    from (
      select e.id, of_event.* from events e
      cross join lateral (
        select serial, ${column} as text from attendees
        where shard_id = ${shardId} and event_id = e.id
          and ${column} >= ${prefix} and ${column} < ${prefix} || ${LAST_CHARACTER}
          and starts_with(name, lower(${namePrefix})) and ${continues}
        order by ${column}, serial limit ${most}
      ) of_event
      where e.shard_id = ${shardId} and e.id = coalesce(${eventId}, e.id)
        and ${events === undefined ? sql`true` : sql`e.id = any(${plainArray(events)}::integer[])`}
      order by text, serial limit ${most}
    ) a
    cross join lateral (
      select partner_id, full_name, email_address from registrations
      where shard_id = ${shardId} and serial = a.serial offset 0
    ) r
    order by a.text, a.serial limit ${most}`.execute(db);
  return rows;
}
