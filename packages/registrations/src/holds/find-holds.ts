import { formatPassReference, formatTimestamp, type Hold } from '@floodgate/contract';
import { sql } from 'kysely';
import { plainArray, type Database } from '@floodgate/database';
import type { Principal } from '@floodgate/http';
import { IS_EXPIRED, STATE, type RegistrationRow } from '../status/find-registrations.ts';

/** A hold, and the partner and event that it must belong to. */
export interface HoldQuery {
  shardId: number;
  partnerId: number;
  eventId: number;
  holdId: string;
}

/** Finds one hold. Concurrent calls share a statement. */
export type FindHold = (query: HoldQuery) => Promise<StoredHold | undefined>;

/** A hold, with its seats by serial. */
export interface FoundHold {
  holdId: string;
  seats: readonly HeldSeat[];
}

/** A hold that was read, with what decides whether it can get more seats. */
export interface StoredHold extends FoundHold {
  /** Whole seconds until the first of its held seats is released. Null: no seat is held. */
  secondsLeft: number | null;
  /** Whether it is an offer of a waiting list. */
  isOffer: boolean;
}

/** A seat of a hold. */
export interface HeldSeat {
  serial: number;
  passCode: number;
  ticketId: number;
  state: RegistrationRow['state'];
  partnerReference: string | null;
  /** When a held seat is released. */
  heldUntil: Date | null;
  /** Whether the hold expired before the seat was confirmed. */
  isExpired: boolean;
}

/** Finds holds of one shard. Resolves to one per query, in order, or to undefined if there is none. */
export async function findHolds(db: Database, queries: readonly HoldQuery[]) {
  const column = (name: keyof HoldQuery) => plainArray(queries.map((query) => query[name]));
  const shardId = queries[0]?.shardId;
  if (shardId === undefined) return [];
  const { rows } = await sql<ReadSeat>`
    select query.position, r.serial, r.pass_code as "passCode", r.ticket_id as "ticketId", ${STATE} as state,
      r.partner_reference as "partnerReference", ${IS_EXPIRED} as "isExpired",
      nullif(r.held_until, 'infinity') as "heldUntil",
      case when r.held_until < 'infinity' and r.held_until > now() and r.cancelled_at is null
        then floor(extract(epoch from r.held_until - now()))::integer end as "secondsLeft",
      exists (
        select from waiting_entries e where e.shard_id = ${shardId} and e.id = query.hold_id
      ) as "isOffer"
    from unnest(${column('holdId')}::uuid[], ${column('partnerId')}::integer[], ${column('eventId')}::integer[])
      with ordinality as query (hold_id, partner_id, event_id, position)
    -- Looked up by key (offset 0): see findRegistrations.
    cross join lateral (
      select serial, batch_id, ticket_id, pass_code, partner_reference, held_until, cancelled_at from registrations
      where shard_id = ${shardId} and hold_id = query.hold_id
        and partner_id = query.partner_id and event_id = query.event_id
      offset 0
    ) r
    cross join lateral (
      select state from batches where shard_id = ${shardId} and id = r.batch_id offset 0
    ) b
    order by query.position, r.serial`.execute(db);
  const seatsByQuery = Map.groupBy(rows, ({ position }) => position);
  return queries.map(({ holdId }, index): StoredHold | undefined => {
    const seats = seatsByQuery.get(index + 1);
    if (!seats) return undefined;
    const left = seats.flatMap(({ secondsLeft }) => secondsLeft ?? []);
    return {
      holdId,
      seats,
      secondsLeft: left.length > 0 ? Math.min(...left) : null,
      isOffer: seats.some(({ isOffer }) => isOffer),
    };
  });
}

/** A seat as the statement reads it. */
interface ReadSeat extends HeldSeat, Pick<StoredHold, 'secondsLeft' | 'isOffer'> {
  position: number;
}

/** The registrations with a reference among which holds are found, the newest. */
const LATEST = 1_000;

/**
 * Finds the holds of a partner under an event that have its reference, the newest first, at most `limit`. A
 * reference that stands on more than 1,000 registrations finds those of the newest.
 */
export async function findHoldsOfReference(
  db: Database,
  owner: Omit<HoldQuery, 'holdId'>,
  partnerReference: string,
  limit: number,
): Promise<StoredHold[]> {
  const { shardId, partnerId, eventId } = owner;
  const { rows } = await sql<{ holdId: string }>`
    select hold_id as "holdId" from (
      select hold_id, serial from registrations
      where shard_id = ${shardId} and event_id = ${eventId} and partner_id = ${partnerId}
        and partner_reference = ${partnerReference}
      order by serial desc limit ${LATEST}
    ) latest
    where hold_id is not null
    group by hold_id order by max(serial) desc limit ${limit}`.execute(db);
  const holds = await findHolds(
    db,
    rows.map(({ holdId }) => ({ shardId, partnerId, eventId, holdId })),
  );
  return holds.filter((hold) => hold !== undefined);
}

/** Returns the held seats of a hold, or if there are none those that are not cancelled. */
export function openSeats({ seats }: FoundHold) {
  const held = seats.filter(({ state }) => state === 'held');
  return held.length > 0 ? held : seats.filter(({ state }) => state !== 'cancelled');
}

/** Returns the hold that partners see. */
export function describeHold({ passPrefix: prefix, eventId }: Principal, { holdId, seats }: FoundHold): Hold {
  const held = seats.find(({ state }) => state === 'held');
  const isCancelled = seats.every(({ state }) => state === 'cancelled');
  return {
    holdReference: holdId,
    partnerReference: seats[0]!.partnerReference,
    state: held ? 'held' : isCancelled ? 'cancelled' : 'confirmed',
    dateExpires: held?.heldUntil ? formatTimestamp(held.heldUntil) : null,
    seats: seats.map(({ serial, passCode, state, ticketId }) => ({
      passReference: formatPassReference({ prefix, eventId, serial, passCode }),
      state,
      organizedEventTicketID: ticketId,
    })),
  };
}
