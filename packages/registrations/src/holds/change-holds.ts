import { sql } from 'kysely';
import type { Attendee } from '@floodgate/contract';
import { plainArray, textArray } from '@floodgate/database';
import { createGroups } from '../change/change-registrations.ts';
import type { RegistrationsOptions } from '../register/commit-batch.ts';
import { attendeeIn } from '../register/reserve-batch.ts';

export type HoldChange = 'confirmed' | 'released' | 'extended';
/** The change: also if it was made already. Null: a seat is not part of the hold. */
export type HoldChanged = HoldChange | 'too-late' | 'duplicate' | null;

/** A hold to change, with the serials of all its seats that change. */
export interface ChangedHold {
  holdId: string;
  seats: readonly HeldSeat[];
  /** How much longer an extended hold lasts, from now. */
  seconds?: number;
}

interface HeldSeat {
  serial: number;
  /** The attendee of a confirmed seat. */
  attendee?: Attendee;
  /** Null: the event allows duplicates. */
  attendeeDigest?: string | null;
}

export type HoldGroups = ReturnType<typeof createHoldGroups>;

/** Returns functions that change holds in groups. A hold ends `mostSeconds` after it was made, however often it is extended. */
export const createHoldGroups = (
  { mostSeconds, ...options }: RegistrationsOptions & { mostSeconds: number },
  change: HoldChange,
) =>
  createGroups<ChangedHold, HoldChanged>(
    options,
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
          ${plainArray(holds.map(({ seconds = null }) => seconds))}::integer[], ${mostSeconds}::integer,
          ${plainArray(seats.map(({ hold }) => hold))}::integer[],
          ${plainArray(seats.map(({ serial }) => serial))}::bigint[],
          ${plainArray(seats.map(({ attendeeDigest = null }) => attendeeDigest))}::uuid[],
          ${text('fullName')}::text[], ${text('emailAddress')}::text[], ${text('phoneNumber')}::text[],
          ${text('gender')}::text[], ${text('tableOrSeat')}::text[], ${text('extraData1')}::text[],
          ${text('extraData2')}::text[]
        ) as outcomes`.execute(options.db);
      return rows[0]!.outcomes;
    },
    ({ seats }) => seats.length,
  );
