import { sql, type RawBuilder } from 'kysely';
import { plainArray, textArray, type Database } from '@floodgate/database';

/** A registration that is to be changed, as its pass reference names it, and whose it has to be. */
export interface NamedRegistration {
  partnerId: number;
  eventId: number;
  serial: number;
  passCode: number;
}

export interface Cancellation extends NamedRegistration {
  /** Until when it may be, by Postgres's clock. Null: at any time. */
  deadline: Date | null;
}

/** `cancelled`: also where it was so before. Null: there is no such registration. */
export type CancelOutcome = 'cancelled' | 'too-late' | null;
/** `confirmed`: also where it was not held. Null: there is no such registration. */
export type ConfirmOutcome = 'confirmed' | 'too-late' | null;

/**
 * Cancels registrations of one shard: their seats can be sold again. Finalization publishes the changes. Returns one outcome
 * each, in order. Safe to repeat.
 */
export async function cancelRegistrations(
  db: Database,
  shardId: number,
  cancellations: readonly Cancellation[],
  lockWithinMs = 0,
): Promise<CancelOutcome[]> {
  const deadlines = textArray(cancellations.map(({ deadline }) => deadline && deadline.toISOString()));
  const { rows } = await sql<{ outcomes: CancelOutcome[] }>`
    select cancel_registrations(
      ${shardId}::integer, ${lockWithinMs}::integer, ${namesOf(cancellations)}, ${deadlines}::timestamptz[]
    ) as outcomes`.execute(db);
  return rows[0]!.outcomes;
}

/**
 * Confirms held registrations of one shard. Finalization publishes the changes. Returns one outcome each, in order. Safe to
 * repeat.
 */
export async function confirmRegistrations(
  db: Database,
  shardId: number,
  registrations: readonly NamedRegistration[],
  lockWithinMs = 0,
): Promise<ConfirmOutcome[]> {
  const { rows } = await sql<{ outcomes: ConfirmOutcome[] }>`
    select confirm_registrations(
      ${shardId}::integer, ${lockWithinMs}::integer, ${namesOf(registrations)}
    ) as outcomes`.execute(db);
  return rows[0]!.outcomes;
}

function namesOf(registrations: readonly NamedRegistration[]): RawBuilder<unknown> {
  const plain = (read: (registration: NamedRegistration) => number) => plainArray(registrations.map(read));
  return sql`
    ${plain(({ serial }) => serial)}::bigint[], ${plain(({ partnerId }) => partnerId)}::integer[],
    ${plain(({ eventId }) => eventId)}::integer[], ${plain(({ passCode }) => passCode)}::bigint[]`;
}

/** Cancels up to `limit` registrations of a shard whose hold has expired, the oldest first. Returns how many it has cancelled. */
export async function expireHolds(db: Database, shardId: number, limit: number): Promise<number> {
  const { rows } = await sql<{ expired: number }>`
    select expire_holds(${shardId}::integer, ${limit}::integer) as expired`.execute(db);
  return rows[0]!.expired;
}
