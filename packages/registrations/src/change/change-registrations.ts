import { sql } from 'kysely';
import { randomUUIDv7 } from 'node:crypto';
import type { Attendee } from '@floodgate/contract';
import { plainArray, statementFailure, textArray, type Database } from '@floodgate/database';
import { retry, systemClock, throttledWarn } from '@floodgate/service';
import { createAdmission } from '../admission/admission-queue.ts';
import { DEFAULT_HOLD_SHARE_PERCENT } from '../holds/settings.ts';
import type { RegistrationsOptions } from '../register/commit-batch.ts';
import { drawPassCode } from '../register/pass-code.ts';
import { attendeeIn, RELAY_GRACE_SECONDS } from '../register/reserve-batch.ts';
import type { RegistrationQuery, RegistrationRow } from '../status/find-registrations.ts';

/** A registration to change, with the partner, event and pass code that it must have. */
export interface NamedRegistration extends Omit<RegistrationQuery, 'shardId'> {
  passCode: number;
  /** Cancellation deadline, by Postgres's clock. Null or missing: there is none. */
  deadline?: Date | null;
}

type Change = 'cancelled' | 'confirmed';
/** Why the seat of a registration cannot be taken from its attendee. `admitted`: it has let in a person. `replaced`: another has it. */
type Kept = 'too-late' | 'admitted' | 'replaced';
/** `cancelled`, `confirmed`: also if it already was. Null: there is no such registration. */
export type Changed = Change | Kept | null;
/** `overloaded`: nothing was changed. `unknown`: it may have been changed. */
type Undone = 'overloaded' | 'unknown' | 'failed';

interface ChangeOptions {
  /** Limit of each wait for a lock. 0: that of the session. */
  lockWithinMs?: number | undefined;
  /** The share of a ticket that a partner can hold, for the offers of freed seats. Null: the worker makes the offers. */
  holdSharePercent?: number | null | undefined;
  byOperator?: boolean;
}

/**
 * Cancels registrations of one shard, so that their seats can be sold again, or confirms held ones. Finalization publishes the
 * changes. Returns one outcome per registration, in order. Safe to repeat. Only an operator cancels a registration whose seat was
 * admitted. Offers freed seats to those who wait, up to the share of each partner. Without `holdSharePercent`, the worker does so a
 * moment later.
 */
export async function changeRegistrations(
  db: Database,
  shardId: number,
  change: Change,
  registrations: readonly NamedRegistration[],
  { lockWithinMs = 0, holdSharePercent = null, byOperator = false }: ChangeOptions = {},
) {
  const column = (key: Exclude<keyof NamedRegistration, 'deadline'>) =>
    plainArray(registrations.map((one) => one[key]));
  const deadlines = textArray(registrations.map(({ deadline }) => deadline?.toISOString() ?? null));
  const { rows } = await sql<{ outcomes: Changed[] }>`
    select change_registrations(
      ${shardId}::integer, ${lockWithinMs}::integer, ${change}::text, ${column('serial')}::bigint[],
      ${column('partnerId')}::integer[], ${column('eventId')}::integer[], ${column('passCode')}::bigint[],
      ${deadlines}::timestamptz[], ${holdSharePercent}::integer, ${byOperator}::boolean
    ) as outcomes`.execute(db);
  return rows[0]!.outcomes;
}

/**
 * Cancels up to `limit` registrations of a shard whose hold has expired, ticket by ticket. Returns how many it has cancelled. Skips
 * tickets that another transaction keeps locked.
 */
export async function expireHolds(
  db: Database,
  shardId: number,
  limit: number,
  holdSharePercent = DEFAULT_HOLD_SHARE_PERCENT,
) {
  const tickets: number[] = [];
  let total = 0;
  while (total < limit) {
    const { rows } = await sql<{ done: { ticketId: number; expired: number | null } | null }>`
      select expire_holds(${shardId}::integer, ${limit - total}::integer, ${tickets}::integer[],
        ${holdSharePercent}::integer) as done`.execute(db);
    const { done } = rows[0]!;
    if (!done) break;
    tickets.push(done.ticketId);
    total += done.expired ?? 0;
  }
  return total;
}

/** A registration whose seat another attendee gets. */
export interface Replacement extends NamedRegistration {
  attendee: Attendee;
  /** Null: the event allows duplicates. */
  attendeeDigest: string | null;
}

/** The new registration, or why there is none. Null: there is no such registration. */
type Replaced =
  { serial: number; passCode: number; wasAdmitted: boolean } | Exclude<Kept, 'replaced'> | 'duplicate' | null;

/**
 * Gives the seat of a registration to another attendee, under a new pass reference. Finalization publishes the change: the old
 * registration is cancelled, the new one confirmed. Safe to repeat. Returns the id of the batch, too. Only an operator changes the
 * attendee of a seat that was admitted. Then the new pass counts as admitted (`wasAdmitted`).
 */
export async function replaceAttendee(
  db: Database,
  shardId: number,
  named: Replacement,
  lockWithinMs = 0,
  byOperator = false,
) {
  const { serial, partnerId, eventId, passCode, deadline = null, attendee, attendeeDigest } = named;
  const batchId = randomUUIDv7();
  const { rows } = await sql<{ replaced: { outcome: Kept | 'duplicate' } | null }>`
    select replace_attendee(
      ${shardId}::integer, ${lockWithinMs}::integer, make_interval(secs => ${RELAY_GRACE_SECONDS}), ${batchId}::uuid,
      ${serial}::bigint, ${partnerId}::integer, ${eventId}::integer, ${passCode}::bigint, ${deadline}::timestamptz,
      ${drawPassCode()}::bigint, ${attendeeDigest}::uuid, ${sql.join(Object.values(attendeeIn(attendee)))},
      ${byOperator}::boolean
    ) as replaced`.execute(db);
  const { outcome = null, ...seat } = rows[0]!.replaced ?? {};
  return { batchId, replaced: (outcome === 'replaced' ? seat : outcome) as Replaced };
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

/** The messages of changes that are refused because somebody was let in, or because the seat has another attendee. */
export const WHY_KEPT = {
  admitted: 'The seat was admitted at the door, so only the operator of the event can change it',
  replaced: 'The attendee was changed, and the seat belongs to the new registration',
};

/** Returns why another attendee cannot get the seat of a registration in this state. */
export function whyNotReplaced(state: RegistrationRow['state']): string {
  if (state === 'held') return 'The registration is held; confirm it first';
  return state === 'cancelled' ? 'The registration is cancelled' : 'The deadline for changes has passed';
}

export type ChangeGroups = ReturnType<typeof createChangeGroups>;

/** Returns functions that cancel registrations, or confirm held ones, in groups. `byOperator`: also those whose seat was admitted. */
export const createChangeGroups = (options: RegistrationsOptions, change: Change, byOperator = false) =>
  createGroups<NamedRegistration, Changed>(options, (shardId, registrations) =>
    changeRegistrations(options.db, shardId, change, registrations, { ...options, byOperator }),
  );

export type ReplacementGroups = ReturnType<typeof createReplacementGroups>;

/** Returns functions that replace attendees, one after the other. */
export const createReplacementGroups = (options: RegistrationsOptions) =>
  createGroups<Replacement, Replaced>({ ...options, roundsOf: oneByOne }, async (shardId, [replacement]) => {
    const { db, lockWithinMs, onCommitted } = options;
    const { batchId, replaced } = await replaceAttendee(db, shardId, replacement!, lockWithinMs);
    if (typeof replaced === 'object' && replaced) onCommitted(shardId, batchId);
    return [replaced];
  });

const oneByOne = <Item>(items: readonly Item[]) => items.map((one) => [one]);

interface GroupOptions<Item> extends Pick<
  RegistrationsOptions,
  'log' | 'isCluster' | 'groupLimit' | 'waitingLimit' | 'answerWithinMs' | 'onCommitted' | 'onGroup' | 'clock'
> {
  unitsOf?: (item: Item) => number;
  /** Splits a group where items must not be in one transaction. Items in no round are answered 90. */
  roundsOf?: (items: readonly Item[]) => Iterable<readonly Item[]>;
}

/**
 * Returns functions that commit changes in groups, one group at a time in each shard, as registrations are made. A change is safe to
 * repeat, so a failed round is retried.
 */
export function createGroups<Item, Done>(
  {
    log,
    unitsOf = () => 1,
    roundsOf = (items) => [items],
    clock = systemClock,
    ...options
  }: GroupOptions<Item>,
  change: (shardId: number, items: readonly Item[]) => Promise<Done[]>,
) {
  const warn = throttledWarn('changes of registrations did not commit', clock);

  /** Commits changes of one shard now, without a queue. Returns one outcome per item, in order. Never rejects. */
  async function commit(items: readonly Item[], shardId: number) {
    const outcomes = new Map<Item, Done | Undone>(items.map((item) => [item, 'overloaded']));
    const giveUpAt = clock.now() + options.answerWithinMs / 2;
    for (const round of roundsOf(items)) {
      const done = await commitRound(round, shardId);
      round.forEach((item, index) => outcomes.set(item, done[index]!));
      if (done[0] === 'overloaded' || done[0] === 'unknown' || clock.now() > giveUpAt) break;
    }
    return [...outcomes.values()];
  }

  async function commitRound(items: readonly Item[], shardId: number) {
    let mayHaveCommitted = false;
    const shouldRetry = (error: unknown) => {
      const failure = statementFailure(error);
      warn(log, { err: error, size: items.length, failure });
      // On a cluster, a statement that timed out may have committed on the shard's server.
      mayHaveCommitted ||= failure === 'unknown' || (options.isCluster && failure === 'unavailable');
      return failure !== 'unexpected';
    };
    try {
      // Half of the answer time is left for the last attempt.
      const retries = { delayMs: 50, withinMs: options.answerWithinMs / 2, shouldRetry, clock };
      const outcomes: (Done | Undone)[] = await retry(() => change(shardId, items), retries);
      options.onCommitted(shardId);
      return outcomes;
    } catch (error) {
      const outcome = statementFailure(error) === 'unexpected' ? 'failed' : 'overloaded';
      return items.map(() => (mayHaveCommitted ? 'unknown' : outcome));
    }
  }

  const admission = createAdmission<Item, Done | Undone>({
    ...options,
    clock,
    unitsOf,
    commit,
    overloaded: 'overloaded',
    unknown: 'unknown',
  });
  return { ...admission, commit };
}
