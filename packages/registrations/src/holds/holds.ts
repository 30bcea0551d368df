import {
  DEFAULT_HOLD_SECONDS,
  formatPassReference,
  formatTimestamp,
  type Attendee,
  type Hold,
} from '@floodgate/contract';
import { sql } from 'kysely';
import { plainArray, textArray, type Database } from '@floodgate/database';
import type { Principal } from '@floodgate/http';
import { createGroups } from '../change/change-registrations.ts';
import { DEFAULT_HOLD_LIMIT_SECONDS } from './settings.ts';
import type { RegistrationsOptions } from '../register/commit-batch.ts';
import { ATTENDEE_FIELDS, attendeeIn } from '../register/reserve-batch.ts';
import {
  IS_EXPIRED,
  STATE,
  type RegistrationQuery,
  type RegistrationRow,
} from '../status/find-registrations.ts';

/** A hold, and the partner and event that it must belong to. */
export type HoldQuery = Omit<RegistrationQuery, 'serial'> & { holdId: string };

/** Finds one hold. Concurrent calls share a statement. */
export type FindHold = (query: HoldQuery) => Promise<FoundHold | undefined>;

/** A hold, with its seats by serial. */
export interface FoundHold {
  holdId: string;
  seats: readonly HeldSeat[];
}

type HeldSeat = Pick<RegistrationRow, 'serial' | 'passCode' | 'ticketId' | 'state' | 'partnerReference'> & {
  /** When a held seat is released. */
  heldUntil: Date | null;
  isExpired?: boolean;
};

/** Finds holds of one shard. Resolves to one per query, in order, or to undefined if there is none. */
export async function findHolds(db: Database, queries: readonly HoldQuery[]) {
  const column = (name: keyof HoldQuery) => plainArray(queries.map((query) => query[name]));
  const shardId = queries[0]?.shardId;
  if (shardId === undefined) return [];
  const { rows } = await sql<HeldSeat & { position: number }>`
    select query.position, r.serial, r.pass_code as "passCode", r.ticket_id as "ticketId", ${STATE} as state,
      r.partner_reference as "partnerReference", ${IS_EXPIRED} as "isExpired", nullif(r.held_until, 'infinity') as "heldUntil"
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
  const seats = Map.groupBy(rows, ({ position }) => position);
  return queries.map(({ holdId }, index): FoundHold | undefined => {
    const own = seats.get(index + 1);
    return own && { holdId, seats: own };
  });
}

export const NO_HOLD = 'No such hold';

/** Returns the time in the header Hold-For. */
export const secondsIn = ({ 'hold-for': seconds }: { 'hold-for'?: string | undefined }) =>
  Number(seconds ?? DEFAULT_HOLD_SECONDS);

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

export type HoldChange = 'confirmed' | 'released' | 'extended';
/** The change: also if it was made already. Null: a seat is not part of the hold. */
type HoldChanged = HoldChange | 'too-late' | 'duplicate' | null;

/** A hold to change, with the serials of all its seats that change. */
export interface ChangedHold {
  holdId: string;
  seats: readonly ChangedSeat[];
  /** How much longer an extended hold lasts, from now. */
  seconds?: number;
}

interface ChangedSeat {
  serial: number;
  /** The attendee of a confirmed seat. */
  attendee?: Attendee;
  /** Null: the event allows duplicates. */
  attendeeDigest?: string | null;
}

export type HoldGroups = ReturnType<typeof createHoldGroups>;

/** Returns functions that change holds in groups. A hold ends `holdLimitSeconds` after it was made, however often it is extended. */
export const createHoldGroups = (
  { holdLimitSeconds = DEFAULT_HOLD_LIMIT_SECONDS, ...options }: RegistrationsOptions,
  change: HoldChange,
) =>
  createGroups<ChangedHold, HoldChanged>(
    { ...options, unitsOf: ({ seats }) => seats.length, roundsOf },
    async (shardId, holds) => {
      const seats = holds.flatMap((hold, index) =>
        hold.seats.map(({ attendee, ...seat }) => ({
          ...seat,
          hold: index + 1,
          ...(attendee && attendeeIn(attendee)),
        })),
      );
      const text = (field: keyof Attendee) => textArray(seats.map((seat) => seat[field] ?? null));
      const { rows } = await sql<{ outcomes: HoldChanged[] }>`
        select change_holds(
          ${shardId}::integer, ${options.lockWithinMs}::integer, ${change}::text,
          ${plainArray(holds.map(({ holdId }) => holdId))}::uuid[],
          ${plainArray(holds.map(({ seconds = null }) => seconds))}::integer[], ${holdLimitSeconds}::integer,
          ${plainArray(seats.map(({ hold }) => hold))}::integer[],
          ${plainArray(seats.map(({ serial }) => serial))}::bigint[],
          ${plainArray(seats.map(({ attendeeDigest = null }) => attendeeDigest))}::uuid[],
          ${sql.join(ATTENDEE_FIELDS.map((field) => sql`${text(field)}::text[]`))},
          ${options.holdSharePercent ?? null}::integer
        ) as outcomes`.execute(options.db);
      return rows[0]!.outcomes;
    },
  );

/** A caller with more calls for one hold at once must not delay the others of its group. */
const MOST_ROUNDS = 4;

/**
 * Splits holds into rounds, each with a hold and an attendee at most once: change_holds decides on all holds of a call
 * before it changes one.
 */
function* roundsOf(holds: readonly ChangedHold[]) {
  let left = holds;
  for (let number = 1; number <= MOST_ROUNDS && left.length > 0; number += 1) {
    const seen = new Set<string>();
    const { round, later = [] } = Object.groupBy(left, ({ holdId, seats }) => {
      const names = [holdId, ...seats.flatMap(({ attendeeDigest }) => attendeeDigest ?? [])];
      const isFirst = seen.isDisjointFrom(new Set(names));
      for (const name of names) seen.add(name);
      return isFirst ? 'round' : 'later';
    });
    yield round!;
    left = later;
  }
}
