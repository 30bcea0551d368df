import type { Attendee } from '@floodgate/contract';
import { sql } from 'kysely';
import { plainArray, textArray, type Database } from '@floodgate/database';
import { createGroups, inSeparateRounds, type Groups } from '../change/change-groups.ts';
import type { RegistrationsOptions } from '../register/commit-batch.ts';
import { ATTENDEE_FIELDS, attendeeIn, type AttendeeFields } from '../register/reservation.ts';
import type { FoundHold, HeldSeat } from './find-holds.ts';
import { DEFAULT_HOLD_LIMIT_SECONDS } from './settings.ts';

export type HoldChange = 'confirmed' | 'released' | 'extended';

/** A hold to change, with all its seats that change. */
export interface ChangedHold {
  holdId: string;
  seats: readonly ChangedSeat[];
  /** How much longer an extended hold lasts, from now. */
  seconds?: number;
}

export interface ChangedSeat {
  serial: number;
  /** The attendee of a confirmed seat. */
  attendee?: Attendee;
  /** Null: the event allows duplicates. */
  attendeeDigest?: string | null;
}

/** The outcome of a change, and the hold as it is then. */
export interface HoldOutcome {
  /**
   * The change: also if it was made already. `too-late`: a seat is not held any more. `duplicate`: an
   * attendee has a seat already. Null: a seat is not part of the hold.
   */
  kind: HoldChange | 'too-late' | 'duplicate' | null;
  hold: FoundHold;
}

interface ChangeOptions {
  /** Limit of each wait for a lock. 0: that of the session. */
  lockWithinMs?: number | undefined;
  /** A hold ends this long after it was made, however often it is extended. */
  holdLimitSeconds?: number | undefined;
  /**
   * The share of a ticket that a partner can hold, for the offers of freed seats. Null: the worker makes the
   * offers.
   */
  holdSharePercent?: number | null | undefined;
  /** All holds or none: if one outcome is not the change, no hold has changed. */
  together?: boolean;
}

/** The result of the SQL function, by position of the hold. */
interface Answer {
  outcomes: HoldOutcome['kind'][];
  holds: (StoredSeat[] | null)[];
}

/** A seat in JSON, which has no dates. */
interface StoredSeat extends Omit<HeldSeat, 'heldUntil'> {
  heldUntil: string | null;
}

/**
 * Changes holds of one shard, each with all its seats or not at all. Returns one outcome per hold, in order.
 * Safe to repeat. No hold and no attendee may be there twice: the SQL function decides on all holds before it
 * changes one.
 */
export async function changeHolds(
  db: Database,
  shardId: number,
  change: HoldChange,
  holds: readonly ChangedHold[],
  {
    lockWithinMs = 0,
    holdLimitSeconds = DEFAULT_HOLD_LIMIT_SECONDS,
    holdSharePercent = null,
    together = false,
  }: ChangeOptions = {},
): Promise<HoldOutcome[]> {
  const seats = holds.flatMap((hold, index) => hold.seats.map((seat) => ({ ...seat, hold: index + 1 })));
  const attendees = seats.map(({ attendee }) => attendee && attendeeIn(attendee));
  const text = (field: keyof AttendeeFields) => textArray(attendees.map((fields) => fields?.[field] ?? null));
  const { rows } = await sql<{ answer: Answer }>`
    select change_and_read_holds(
      ${shardId}::integer, ${lockWithinMs}::integer, ${change}::text,
      ${plainArray(holds.map(({ holdId }) => holdId))}::uuid[],
      ${plainArray(holds.map(({ seconds = null }) => seconds))}::integer[], ${holdLimitSeconds}::integer,
      ${plainArray(seats.map(({ hold }) => hold))}::integer[],
      ${plainArray(seats.map(({ serial }) => serial))}::bigint[],
      ${plainArray(seats.map(({ attendeeDigest = null }) => attendeeDigest))}::uuid[],
      ${sql.join(ATTENDEE_FIELDS.map((field) => sql`${text(field)}::text[]`))},
      ${holdSharePercent}::integer, ${together}::boolean
    ) as answer`.execute(db);
  const { answer } = rows[0]!;
  return holds.map(({ holdId }, index) => ({
    kind: answer.outcomes[index] ?? null,
    hold: { holdId, seats: (answer.holds[index] ?? []).map(seatIn) },
  }));
}

const seatIn = ({ heldUntil, ...seat }: StoredSeat): HeldSeat => ({
  ...seat,
  heldUntil: heldUntil === null ? null : new Date(heldUntil),
});

/** Functions that change holds. */
export type HoldGroups = Groups<ChangedHold, HoldOutcome>;

/** Returns functions that change holds in groups. */
export const createHoldGroups = (options: RegistrationsOptions, change: HoldChange): HoldGroups =>
  createGroups<ChangedHold, HoldOutcome>(
    { ...options, unitsOf: ({ seats }) => seats.length, roundsOf },
    (shardId, holds) => changeHolds(options.db, shardId, change, holds, options),
  );

/** Functions that confirm the holds of a call, all or none. */
export type OrderGroups = Groups<readonly ChangedHold[], HoldOutcome[]>;

/**
 * Returns functions that confirm holds: those of a call, each at most once, all or none. The outcomes are by
 * position. If one is not `confirmed`, no hold was confirmed.
 */
export const createOrderGroups = (options: RegistrationsOptions): OrderGroups =>
  createGroups<readonly ChangedHold[], HoldOutcome[]>(
    {
      ...options,
      unitsOf: (holds) => holds.reduce((sum, { seats }) => sum + seats.length, 0),
      roundsOf: inSeparateRounds,
    },
    async (shardId, [holds]) => [
      await changeHolds(options.db, shardId, 'confirmed', holds!, { ...options, together: true }),
    ],
  );

/** A caller with more concurrent calls for one hold must not delay the others of its group. */
const ROUND_LIMIT = 4;

/** Splits holds into rounds, each with a hold and an attendee at most once. */
function* roundsOf(holds: readonly ChangedHold[]) {
  let left = holds;
  for (let number = 1; number <= ROUND_LIMIT && left.length > 0; number += 1) {
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
