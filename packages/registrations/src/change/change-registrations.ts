import { sql } from 'kysely';
import { plainArray, textArray, type Database } from '@floodgate/database';
import type { RegistrationsOptions } from '../register/commit-batch.ts';
import { createGroups, inSeparateRounds, type Groups } from './change-groups.ts';

/** A registration to change, with the partner, event and pass code that it must have. */
export interface NamedRegistration {
  serial: number;
  partnerId: number;
  eventId: number;
  passCode: number;
  /** Cancellation deadline, by Postgres's clock. Null or missing: there is none. */
  deadline?: Date | null;
}

type Change = 'cancelled' | 'confirmed';

/**
 * `cancelled`, `confirmed`: also if it already was. `too-late`: the deadline has passed, or the registration
 * is cancelled. `admitted`: its seat has let in a person. `replaced`: another attendee has the seat. Null:
 * there is no such registration.
 */
export type ChangeOutcome = Change | 'too-late' | 'admitted' | 'replaced' | null;

interface ChangeOptions {
  /** Limit of each wait for a lock. 0: that of the session. */
  lockWithinMs?: number | undefined;
  /**
   * The share of a ticket that a partner can hold, for the offers of freed seats. Null: the worker makes the
   * offers.
   */
  holdSharePercent?: number | null | undefined;
  byOperator?: boolean;
  /** All or none: if one outcome is not the change, nothing has changed. */
  together?: boolean;
}

/**
 * Cancels registrations of one shard, so that their seats can be sold again, or confirms held ones.
 * Finalization publishes the changes. Returns one outcome per registration, in order. Safe to repeat. Only an
 * operator cancels a registration whose seat was admitted. Offers freed seats to those who wait, up to the
 * share of each partner. Without `holdSharePercent`, the worker does so a moment later.
 */
export async function changeRegistrations(
  db: Database,
  shardId: number,
  change: Change,
  registrations: readonly NamedRegistration[],
  { lockWithinMs = 0, holdSharePercent = null, byOperator = false, together = false }: ChangeOptions = {},
) {
  const column = (name: Exclude<keyof NamedRegistration, 'deadline'>) =>
    plainArray(registrations.map((registration) => registration[name]));
  const deadlines = textArray(registrations.map(({ deadline }) => deadline?.toISOString() ?? null));
  const { rows } = await sql<{ outcomes: ChangeOutcome[] }>`
    select change_registrations(
      ${shardId}::integer, ${lockWithinMs}::integer, ${change}::text, ${column('serial')}::bigint[],
      ${column('partnerId')}::integer[], ${column('eventId')}::integer[], ${column('passCode')}::bigint[],
      ${deadlines}::timestamptz[], ${holdSharePercent}::integer, ${byOperator}::boolean,
      null, ${together}::boolean
    ) as outcomes`.execute(db);
  return rows[0]!.outcomes;
}

/** Returns whether the seat of a registration has let in a person. */
export async function isSeatAdmitted(db: Database, shardId: number, serial: number) {
  const { rows } = await sql`
    select from admissions a
    where a.shard_id = ${shardId} and a.undone_at is null and a.seat = (
      select coalesce(seat, serial) from registrations where shard_id = ${shardId} and serial = ${serial}
    )`.execute(db);
  return rows.length > 0;
}

/** Functions that cancel registrations, or confirm held ones. */
export type ChangeGroups = Groups<NamedRegistration, ChangeOutcome>;

/**
 * Returns functions that cancel registrations, or confirm held ones, in groups. `byOperator`: also those
 * whose seat was admitted.
 */
export const createChangeGroups = (
  options: RegistrationsOptions,
  change: Change,
  byOperator = false,
): ChangeGroups =>
  createGroups<NamedRegistration, ChangeOutcome>(options, (shardId, registrations) =>
    changeRegistrations(options.db, shardId, change, registrations, { ...options, byOperator }),
  );

/** Functions that cancel the registrations of a call, all or none. */
export type TogetherGroups = Groups<readonly NamedRegistration[], ChangeOutcome[]>;

/**
 * Returns functions that cancel registrations: those of a call, each at most once, all or none. The outcomes are
 * by position. If one is not `cancelled`, none was cancelled.
 */
export const createTogetherGroups = (options: RegistrationsOptions): TogetherGroups =>
  createGroups<readonly NamedRegistration[], ChangeOutcome[]>(
    { ...options, unitsOf: ({ length }) => length, roundsOf: inSeparateRounds },
    async (shardId, [registrations]) => [
      await changeRegistrations(options.db, shardId, 'cancelled', registrations!, {
        ...options,
        together: true,
      }),
    ],
  );
