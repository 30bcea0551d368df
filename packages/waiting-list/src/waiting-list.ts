import { randomUUID } from 'node:crypto';
import { formatTimestamp, type WaitingEntry, type WaitingRequest } from '@floodgate/contract';
import { inCamelCase, plainArray, type Database } from '@floodgate/database';
import { DEFAULT_HOLD_SHARE_PERCENT } from '@floodgate/registrations';
import { sql } from 'kysely';

/** The partner and event of entries. */
type Owner = Record<'shardId' | 'eventId' | 'partnerId', number>;

/** A call that joins a waiting list. */
export type Join = ReturnType<typeof toJoin>;

/** Returns the call with the id of its entry. The key is the Idempotency-Key. */
export const toJoin = (
  { eventId: event, partnerId: partner }: Owner,
  { organizedEventTicketID: ticket, seats = 1, contact, partnerReference: reference = null }: WaitingRequest,
  key: string | null,
) => ({
  id: randomUUID() as string,
  event,
  partner,
  ticket,
  seats,
  name: contact.fullName,
  address: contact.emailAddress,
  reference,
  key,
});

/**
 * Why a call cannot join, or `joined` with the new entry, or with that of the same call that was made before
 * with the key.
 */
export interface Joined {
  outcome:
    | 'joined'
    | 'key-reused'
    | 'no-such-ticket'
    | 'not-on-sale'
    | 'no-list'
    | 'too-many'
    | 'not-sold-out'
    | 'list-limit';
  id: string;
  /** The place of a new entry in its list, from 1. Null: it must be read. */
  place: number | null;
  at: string;
}

/**
 * Puts entries on the waiting lists of a shard, in order. Offers free seats up to the share of each partner.
 * Returns one outcome per call. Safe to repeat.
 */
export async function joinWaitingLists(
  db: Database,
  shardId: number,
  joins: readonly Join[],
  lockWithinMs: number,
  holdSharePercent = DEFAULT_HOLD_SHARE_PERCENT,
) {
  const calls = JSON.stringify(joins.map((join, index) => ({ ...join, position: index + 1 })));
  const { rows } = await sql<{ joined: Joined[] }>`
    select join_waiting(${shardId}::integer, ${lockWithinMs}::integer, ${calls}::json,
      ${holdSharePercent}::integer) as joined`.execute(db);
  return rows[0]!.joined;
}

/** Places and skips beyond this are not counted, so that a read costs the same however long the list is. */
export const PLACES = 1_000;

/**
 * Returns the entry of a call that has joined, without a query if it is new. Resolves to undefined if it
 * cannot be read.
 */
export async function entryOf(find: FindEntry, owner: Owner, join: Join, { id, place, at }: Joined) {
  if (id !== join.id || place === null) return find({ ...owner, entry: id }).catch(() => undefined);
  return {
    entry: id,
    organizedEventTicketID: join.ticket,
    seats: join.seats,
    partnerReference: join.reference,
    state: 'waiting' as const,
    position: Math.min(place, PLACES + 1),
    skipped: 0,
    dateJoined: formatTimestamp(new Date(at)),
    dateExpires: null,
  };
}

/**
 * Takes an entry off its list. If it has an offer, the seats go to the next entries. Safe to repeat. Resolves
 * to false if there was nothing to do.
 */
export async function leaveWaitingList(
  db: Database,
  { shardId, eventId, partnerId }: Owner,
  entry: string,
  lockWithinMs: number,
  holdSharePercent = DEFAULT_HOLD_SHARE_PERCENT,
) {
  const { rows } = await sql<{ count: number }>`
    select leave_waiting(
      ${shardId}::integer, ${lockWithinMs}::integer, ${eventId}::integer, ${partnerId}::integer, ${entry}::uuid, 1,
      ${holdSharePercent}::integer
    ) as count`.execute(db);
  return rows[0]!.count > 0;
}

/**
 * Offers free seats to those who wait for them, at most `limit` entries of a list, and ends closed lists.
 * Returns the number of entries.
 */
export async function serveWaitingLists(
  db: Database,
  shardId: number,
  limit: number,
  holdSharePercent = DEFAULT_HOLD_SHARE_PERCENT,
) {
  const { rows } = await sql<{ count: number }>`
    select serve_waiting_lists(${shardId}::integer, ${limit}::integer, ${holdSharePercent}::integer) as count`.execute(
    db,
  );
  return rows[0]!.count;
}

/** An entry, and the partner and event that it must belong to. */
export type EntryQuery = Owner & { entry: string };

/** Finds one entry. Concurrent calls share a statement. */
export type FindEntry = (query: EntryQuery) => Promise<WaitingEntry | undefined>;

interface EntryRow extends Omit<WaitingEntry, 'dateJoined' | 'dateExpires'> {
  joinedAt: Date;
  expiresAt: Date | null;
}

/** An entry in the result of the SQL function. */
type StoredEntry = Omit<EntryRow, 'joinedAt' | 'expiresAt'> & { joinedAt: string; expiresAt: string | null };

const describeEntry = <Row extends EntryRow>({ joinedAt, expiresAt, ...row }: Row) => ({
  ...row,
  dateJoined: formatTimestamp(joinedAt),
  dateExpires: expiresAt && formatTimestamp(expiresAt),
});

/**
 * Finds entries of one shard as their partners see them. Resolves to one per query, in order, or to undefined
 * if there is none. The places of a list are counted once for all of its entries.
 */
export async function findEntries(
  db: Database,
  queries: readonly EntryQuery[],
): Promise<(WaitingEntry | undefined)[]> {
  const column = (name: keyof EntryQuery) => plainArray(queries.map((query) => query[name]));
  const shardId = queries[0]?.shardId;
  if (shardId === undefined) return [];
  const { rows } = await sql<{ found: (StoredEntry | null)[] }>`
    select find_waiting(
      ${shardId}::integer, ${column('entry')}::uuid[], ${column('partnerId')}::integer[],
      ${column('eventId')}::integer[],
      ${PLACES}::integer
    ) as found`.execute(db);
  return rows[0]!.found.map((entry) => {
    if (!entry) return undefined;
    const { joinedAt, expiresAt, ...row } = entry;
    return describeEntry({
      ...row,
      joinedAt: new Date(joinedAt),
      expiresAt: expiresAt === null ? null : new Date(expiresAt),
    });
  });
}

/** Returns an entry of a partner as it sees it, or undefined if there is none. */
export async function findEntry(db: Database, owner: Owner, entry: string) {
  const [found] = await findEntries(db, [{ ...owner, entry }]);
  return found;
}

/** An entry as operators see it. */
export type FoundEntry = WaitingEntry & Record<'serial' | 'eventId' | 'partnerId', number>;

/** Which entries of a waiting list to read. */
interface ListPage {
  shardId: number;
  ticketId: number;
  state?: WaitingEntry['state'] | undefined;
  after: number;
  limit: number;
}

/**
 * Returns entries of a waiting list, those who joined first at first. Reads the list once, whatever the limit
 * is.
 */
export async function listEntries(db: Database, { shardId, ticketId, state, after, limit }: ListPage) {
  const { rows } = await sql<EntryRow & Pick<FoundEntry, 'serial' | 'eventId' | 'partnerId'>>`
    select serial, event_id, partner_id, id as entry, ticket_id as "organizedEventTicketID", seats, partner_reference,
      state, joined_at, case when state = 'waiting' then place end as position,
      case when state = 'waiting' then later_offers else skipped end as skipped,
      case when state = 'offered' then expires_at end as expires_at
    from (
      select *,
        (count(*) filter (where state = 'waiting') over (order by serial))::integer as place,
        (count(*) filter (where offered_at is not null) over (order by serial desc))::integer as later_offers
      from waiting_entries where shard_id = ${shardId} and ticket_id = ${ticketId}::integer
    ) e
    where serial > ${after}::bigint ${state ? sql`and state = ${state}` : sql``}
    order by serial limit ${limit}`.execute(inCamelCase(db));
  return rows.map(describeEntry);
}
