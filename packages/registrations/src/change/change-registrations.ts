import { sql } from 'kysely';
import { plainArray, statementFailure, textArray, type Database } from '@floodgate/database';
import { retry, throttledWarn, type Logger } from '@floodgate/service';
import { createAdmission, type AdmissionLimits } from '../admission/admission-queue.ts';
import type { CommitDependencies } from '../register/commit-batch.ts';
import { LOCK_SHARE } from '../register/register-attendees.ts';
import type { RegistrationQuery } from '../status/find-registrations.ts';

/** A registration that is to be changed, as its pass reference names it, and whose it has to be. */
export interface NamedRegistration extends Omit<RegistrationQuery, 'shardId'> {
  passCode: number;
}

export interface Cancellation extends NamedRegistration {
  /** Until when it may be, by Postgres's clock. Null: at any time. */
  deadline: Date | null;
}

/** `cancelled`, `confirmed`: also if it was so before. Null: there is no such registration. */
export type Changed = 'cancelled' | 'confirmed' | 'too-late' | null;
/** `overloaded`: nothing was changed. `unknown`: it may have been changed. */
type ChangeOutcome = Changed | 'overloaded' | 'unknown' | 'failed';

/**
 * Cancels registrations of one shard: their seats can be sold again. Finalization publishes the changes. Returns one outcome
 * each, in order. Safe to repeat.
 */
export const cancelRegistrations = (
  db: Database,
  shardId: number,
  cancellations: readonly Cancellation[],
  lockWithinMs = 0,
) => changeRegistrations(db, shardId, 'cancelled', cancellations, lockWithinMs);

/**
 * Confirms held registrations of one shard. Finalization publishes the changes. Returns one outcome each, in order. Safe to
 * repeat.
 */
export const confirmRegistrations = (
  db: Database,
  shardId: number,
  registrations: readonly NamedRegistration[],
  lockWithinMs = 0,
) => changeRegistrations(db, shardId, 'confirmed', registrations, lockWithinMs);

async function changeRegistrations(
  db: Database,
  shardId: number,
  change: 'cancelled' | 'confirmed',
  registrations: readonly (NamedRegistration & Partial<Cancellation>)[],
  lockWithinMs: number,
): Promise<Changed[]> {
  const column = (key: keyof NamedRegistration) => plainArray(registrations.map((one) => one[key]));
  const deadlines = textArray(registrations.map(({ deadline }) => deadline?.toISOString() ?? null));
  const { rows } = await sql<{ outcomes: Changed[] }>`
    select change_registrations(
      ${shardId}::integer, ${lockWithinMs}::integer, ${change}::text, ${column('serial')}::bigint[],
      ${column('partnerId')}::integer[], ${column('eventId')}::integer[], ${column('passCode')}::bigint[],
      ${deadlines}::timestamptz[]
    ) as outcomes`.execute(db);
  return rows[0]!.outcomes;
}

/** Cancels up to `limit` registrations of a shard whose hold has expired, the oldest first. Returns how many it has cancelled. */
export async function expireHolds(db: Database, shardId: number, limit: number): Promise<number> {
  const { rows } = await sql<{ expired: number }>`
    select expire_holds(${shardId}::integer, ${limit}::integer) as expired`.execute(db);
  return rows[0]!.expired;
}

interface ChangeGroupsOptions extends AdmissionLimits, Pick<CommitDependencies, 'db' | 'isCluster'> {
  log: Logger;
  /** Called after each commit, which may have left changes to publish. */
  onCommitted: (shardId: number) => void;
}

export type ChangeGroups = ReturnType<typeof createChangeGroups>;

/** Share of the answer time after which a group is not attempted again. */
const ATTEMPTS_SHARE = 1 / 2;
const RETRY_DELAY_MS = 50;

/**
 * Returns what changes registrations in groups, as they are made, one group at a time in each shard. A change is safe to repeat, so
 * a group is repeated after a failure.
 */
export function createChangeGroups(
  { db, log, ...options }: ChangeGroupsOptions,
  changeAll: typeof cancelRegistrations,
) {
  const warn = throttledWarn('changes of registrations did not commit');
  const lockWithinMs = Math.round(options.answerWithinMs * LOCK_SHARE);
  const withinMs = options.answerWithinMs * ATTEMPTS_SHARE;

  /** Changes registrations of one shard now, without a queue. Returns one outcome each, in order; never rejects. */
  async function commit(changes: readonly Cancellation[], shardId: number): Promise<ChangeOutcome[]> {
    let mayHaveCommitted = false;
    const shouldRetry = (error: unknown) => {
      const failure = statementFailure(error);
      warn(log, { err: error, size: changes.length, failure });
      // On a cluster, a statement that timed out may have committed on the shard's server.
      mayHaveCommitted ||= failure === 'unknown' || (options.isCluster && failure === 'unavailable');
      return failure !== 'unexpected';
    };
    try {
      const attempt = () => changeAll(db, shardId, changes, lockWithinMs);
      const outcomes = await retry(attempt, { delayMs: RETRY_DELAY_MS, withinMs, shouldRetry });
      options.onCommitted(shardId);
      return outcomes;
    } catch (error) {
      const outcome = statementFailure(error) === 'unexpected' ? 'failed' : 'overloaded';
      return changes.map(() => (mayHaveCommitted ? 'unknown' : outcome));
    }
  }

  const admission = createAdmission<Cancellation, ChangeOutcome>({
    ...options,
    unitsOf: () => 1,
    commit,
    overloaded: 'overloaded',
    unknown: 'unknown',
  });
  return { ...admission, commit };
}
