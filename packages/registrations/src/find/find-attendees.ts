import { askShards, shardIds, type Database } from '@floodgate/database';
import { findEvent } from '@floodgate/events';
import { sql } from 'kysely';
import { findRegistrations, passReferenceOf, type RegistrationRow } from '../status/find-registrations.ts';

/**
 * Makes up to `most` further registrations of a shard known to findAttendees. Returns whether it should be called again at once: not
 * during a launch.
 */
export async function indexAttendees(db: Database, shardId: number, most: number): Promise<boolean> {
  const { rows } = await sql<{ again: boolean }>`
    select index_attendees(${shardId}::integer, ${most}::integer) as again`.execute(db);
  return rows[0]!.again;
}

/** Attendees to find. Prefixes ignore case. Without one, all attendees of the event match, in the order of their names. */
export interface AttendeeQuery {
  /** Absent: of all events. */
  eventId?: number | undefined;
  namePrefix?: string | undefined;
  emailPrefix?: string | undefined;
  partnerId?: number | undefined;
  ticketId?: number | undefined;
  state?: RegistrationRow['state'] | undefined;
  /** Continues after this cursor. Only with an event. */
  after?: number | undefined;
}

/** Names that are read for one page, whatever the filters leave of them. */
const READ_AT_ONCE = 1_000;
/** Sorts after every text that begins with the prefix. */
const LAST_CHARACTER = '\u{10ffff}';

type Found = Record<'shardId' | 'eventId' | 'serial' | 'partnerId', number> &
  Record<'fullName' | 'emailAddress', string>;

/**
 * Finds attendees by the beginning of their name or address. A registration is found a few seconds after it was confirmed or failed. With
 * filters, a page can be short or empty although there is more: continue from the cursor.
 */
export async function findAttendees(db: Database, query: AttendeeQuery, limit: number) {
  const shards = query.eventId === undefined ? null : [(await findEvent(db, query.eventId)).shardId];
  const reads = shards === null ? limit : READ_AT_ONCE;
  const { answers, away } = await askShards(shards ?? (await shardIds(db)), (shardId) =>
    readShard(db, shardId, query, reads),
  );
  const found = answers.flat();
  const matches: (ReturnType<typeof presented> & { serial: number })[] = [];
  for (const shard of answers) {
    const rows = await findRegistrations(db, shard);
    for (const [index, row] of rows.entries())
      if (row && isWanted(query, row, shard[index]!))
        matches.push({ ...presented(row, shard[index]!), serial: row.serial });
  }
  const page = matches.slice(0, limit);
  const isCut = matches.length > limit;
  const last = isCut ? page.at(-1) : found.at(-1);
  return {
    attendees: page.map(({ serial: _serial, ...attendee }) => attendee),
    /** Null: the search was over all events, which cannot continue. */
    cursor: shards === null ? null : (last?.serial ?? query.after ?? 0),
    more: isCut || found.length >= reads,
    shardsAway: away,
  };
}

const isWanted = ({ partnerId, ticketId, state }: AttendeeQuery, row: RegistrationRow, found: Found) =>
  (partnerId === undefined || partnerId === found.partnerId) &&
  (ticketId === undefined || ticketId === row.ticketId) &&
  (state === undefined || state === row.state);

const presented = (row: RegistrationRow, { fullName, emailAddress, partnerId }: Found) => ({
  passReference: passReferenceOf(row),
  state: row.state,
  eventId: row.eventId,
  ticketId: row.ticketId,
  partnerId,
  fullName,
  emailAddress,
});

/** Reads the next names or addresses of each event of a shard, in order. */
async function readShard(
  db: Database,
  shardId: number,
  query: AttendeeQuery,
  most: number,
): Promise<Found[]> {
  const { eventId = null, emailPrefix, namePrefix = '', after = null } = query;
  const column = sql.ref(emailPrefix === undefined ? 'name' : 'email');
  const prefix = sql`lower(${emailPrefix ?? namePrefix})`;
  const continues =
    after === null
      ? sql`true`
      : sql`(${column}, serial) > (
          select ${column}, serial from attendees where shard_id = ${shardId} and serial = ${after}
        )`;
  const { rows } = await sql<Found>`
    select ${shardId}::integer as "shardId", e.id as "eventId", a.serial, r.partner_id as "partnerId",
      r.full_name as "fullName", r.email_address as "emailAddress"
    from (select id from events where shard_id = ${shardId} and id = coalesce(${eventId}, id)) e
    cross join lateral (
      select serial, ${column} as text from attendees
      where shard_id = ${shardId} and event_id = e.id
        and ${column} >= ${prefix} and ${column} < ${prefix} || ${LAST_CHARACTER} and ${continues}
      order by ${column}, serial limit ${most}
    ) a
    cross join lateral (
      select partner_id, full_name, email_address from registrations
      where shard_id = ${shardId} and serial = a.serial offset 0
    ) r
    order by a.text, a.serial limit ${most}`.execute(db);
  return rows;
}
