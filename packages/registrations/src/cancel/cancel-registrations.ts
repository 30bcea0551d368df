import { sql } from 'kysely';
import { plainArray, textArray, type Database } from '@floodgate/database';

/** A registration that is to be cancelled, as its pass reference names it, and whose it has to be. */
export interface Cancellation {
  partnerId: number;
  eventId: number;
  serial: number;
  passCode: number;
  /** Until when it may be, by Postgres's clock. Null: at any time. */
  deadline: Date | null;
}

/** `cancelled`: also where it was so before. Null: there is no such registration. */
export type CancelOutcome = 'cancelled' | 'too-late' | null;

/**
 * Cancels registrations of one shard: their seats can be sold again, and the journal tells of it, in the same transaction.
 * Returns one outcome each, in order. Safe to repeat.
 */
export async function cancelRegistrations(
  db: Database,
  shardId: number,
  cancellations: readonly Cancellation[],
  lockWithinMs = 0,
): Promise<CancelOutcome[]> {
  const plain = (read: (cancellation: Cancellation) => number) => plainArray(cancellations.map(read));
  const { rows } = await sql<{ outcomes: CancelOutcome[] }>`
    select cancel_registrations(
      ${shardId}::integer, ${lockWithinMs}::integer,
      ${plain(({ serial }) => serial)}::bigint[], ${plain(({ partnerId }) => partnerId)}::integer[],
      ${plain(({ eventId }) => eventId)}::integer[], ${plain(({ passCode }) => passCode)}::bigint[],
      ${textArray(cancellations.map(({ deadline }) => deadline && deadline.toISOString()))}::timestamptz[]
    ) as outcomes`.execute(db);
  return rows[0]!.outcomes;
}
