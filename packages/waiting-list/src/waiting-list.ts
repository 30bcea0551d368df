import { randomUUID } from 'node:crypto';
import { formatTimestamp, type WaitingEntry, type WaitingRequest } from '@floodgate/contract';
import { inCamelCase, type Database } from '@floodgate/database';
import { sql, type RawBuilder } from 'kysely';

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

/** Why a call cannot join, or `joined` with the new entry, or with that of the same call that was made before with the key. */
export interface Joined {
  outcome:
    'joined' | 'key-reused' | 'no-such-ticket' | 'not-on-sale' | 'no-list' | 'too-many' | 'not-sold-out';
  id: string;
  /** The place of a new entry in its list, from 1. Null: it must be read. */
  place: number | null;
  at: string;
}

/** Puts entries on the waiting lists of a shard, in order. Returns one outcome per call. Safe to repeat. */
export async function joinWaitingLists(
  db: Database,
  shardId: number,
  joins: readonly Join[],
  lockWithinMs: number,
) {
  const calls = JSON.stringify(joins.map((join, index) => ({ ...join, position: index + 1 })));
  const { rows } = await sql<{ joined: Joined[] }>`
    select join_waiting(${shardId}::integer, ${lockWithinMs}::integer, ${calls}::json) as joined`.execute(db);
  return rows[0]!.joined;
}

/** Returns the entry of a call that has joined, without a query if it is new. Resolves to undefined if it cannot be read. */
export async function entryOf(db: Database, owner: Owner, join: Join, { id, place, at }: Joined) {
  if (id !== join.id || place === null) return findEntry(db, owner, id).catch(() => undefined);
  return {
    entry: id,
    organizedEventTicketID: join.ticket,
    seats: join.seats,
    partnerReference: join.reference,
    state: 'waiting' as const,
    position: place,
    skipped: 0,
    dateJoined: formatTimestamp(new Date(at)),
    dateExpires: null,
  };
}

/**
 * Takes an entry off its list. If it has an offer, the seats go to the next entries. Safe to repeat. Resolves to false if there was nothing
 * to do.
 */
export async function leaveWaitingList(
  db: Database,
  { shardId, eventId, partnerId }: Owner,
  entry: string,
  lockWithinMs: number,
) {
  const { rows } = await sql<{ count: number }>`
    select leave_waiting(
      ${shardId}::integer, ${lockWithinMs}::integer, ${eventId}::integer, ${partnerId}::integer, ${entry}::uuid, 1
    ) as count`.execute(db);
  return rows[0]!.count > 0;
}

/** Offers free seats to those who wait for them, at most `limit` entries of a list, and ends closed lists. Returns the number of entries. */
export async function serveWaitingLists(db: Database, shardId: number, limit: number) {
  const { rows } = await sql<{ count: number }>`
    select serve_waiting_lists(${shardId}::integer, ${limit}::integer) as count`.execute(db);
  return rows[0]!.count;
}

/** An entry as partners see it, with what operators also need. */
export type FoundEntry = WaitingEntry & Record<'serial' | 'eventId' | 'partnerId', number>;

/** Returns an entry of a partner as it sees it, or undefined if there is none. */
export async function findEntry(db: Database, { shardId, eventId, partnerId }: Owner, entry: string) {
  const isOwn = sql`event_id = ${eventId}::integer and partner_id = ${partnerId}::integer`;
  const [found] = await selectEntries(db, shardId, sql`${isOwn} and id = ${entry}::uuid`);
  if (!found) return undefined;
  const { serial: _serial, eventId: _event, partnerId: _partner, ...own } = found;
  return own;
}

/** Returns entries of a shard, those who joined first at first. */
export async function selectEntries(db: Database, shardId: number, where: RawBuilder<unknown>, limit = 1) {
  type Row = Omit<FoundEntry, 'dateJoined' | 'dateExpires'> & { joinedAt: Date; expiresAt: Date | null };
  const { rows } = await sql<Row>`
    select e.serial, e.event_id, e.partner_id, e.id as entry, e.ticket_id as "organizedEventTicketID",
      e.seats, e.partner_reference, e.state, e.joined_at, (
        select count(*)::integer from waiting_entries before
        where before.shard_id = ${shardId} and before.ticket_id = e.ticket_id and before.state = 'waiting'
          and before.serial <= e.serial and e.state = 'waiting'
      ) as position, (
        select count(*)::integer from waiting_entries later
        where later.shard_id = ${shardId} and later.ticket_id = e.ticket_id and later.offered_at is not null
          and later.serial > e.serial and later.offered_at < coalesce(e.offered_at, 'infinity')
      ) as skipped, case when e.state = 'offered' then e.expires_at end as expires_at
    from (
      -- Not *: the API cannot read contacts.
      select serial, event_id, partner_id, id, ticket_id, seats, partner_reference, state, joined_at, offered_at, expires_at
      from waiting_entries where shard_id = ${shardId} and ${where} order by serial limit ${limit} offset 0
    ) e
    order by e.serial`.execute(inCamelCase(db));
  return rows.map(({ joinedAt, expiresAt, position, ...row }) => ({
    ...row,
    position: position || null,
    dateJoined: formatTimestamp(joinedAt),
    dateExpires: expiresAt && formatTimestamp(expiresAt),
  }));
}
