import { formatTimestamp, type Hold } from '@floodgate/contract';
import { sql } from 'kysely';
import { plainArray, type Database } from '@floodgate/database';
import { findRegistrations, statusOf, type RegistrationRow } from '../status/find-registrations.ts';

/** A hold, and the partner and event that it must belong to. */
export interface HoldQuery {
  shardId: number;
  holdId: string;
  partnerId: number;
  eventId: number;
}

/** A hold, with its seats by serial. */
export interface FoundHold {
  holdId: string;
  seats: RegistrationRow[];
}

/** Finds holds of one shard. Resolves to one per query, in order, or to undefined if there is none. */
export async function findHolds(db: Database, queries: readonly HoldQuery[]) {
  const column = (name: keyof HoldQuery) => plainArray(queries.map((query) => query[name]));
  const shardId = queries[0]?.shardId;
  if (shardId === undefined) return [];
  const { rows } = await sql<{ position: number; serial: number }>`
    select query.position, r.serial
    from unnest(${column('holdId')}::uuid[], ${column('partnerId')}::integer[], ${column('eventId')}::integer[])
      with ordinality as query (hold_id, partner_id, event_id, position)
    cross join lateral (
      select serial from registrations
      where shard_id = ${shardId} and hold_id = query.hold_id
        and partner_id = query.partner_id and event_id = query.event_id
      offset 0
    ) r
    order by query.position, r.serial`.execute(db);
  const all = rows.map(({ position, serial }) => ({ ...queries[position - 1]!, serial }));
  const found = await findRegistrations(db, all);
  const byQuery = Map.groupBy(found.keys(), (index) => rows[index]!.position);
  return queries.map(({ holdId }, index): FoundHold | undefined => {
    const own = byQuery.get(index + 1);
    return own && { holdId, seats: own.map((seat) => found[seat]!) };
  });
}

/** Returns when the held seats of a hold are released; null if it has none. */
export const heldUntilOf = ({ seats }: FoundHold) =>
  seats.find(({ heldUntil }) => heldUntil)?.heldUntil ?? null;

/** Returns the hold that partners see. */
export function describeHold(hold: FoundHold): Hold {
  const { holdId, seats } = hold;
  const heldUntil = heldUntilOf(hold);
  const isCancelled = seats.every(({ state }) => state === 'cancelled');
  return {
    holdReference: holdId,
    partnerReference: seats[0]!.partnerReference,
    state: heldUntil ? 'held' : isCancelled ? 'cancelled' : 'confirmed',
    dateExpires: heldUntil && formatTimestamp(heldUntil),
    seats: seats.map(statusOf),
  };
}
