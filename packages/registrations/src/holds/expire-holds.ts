import { sql } from 'kysely';
import type { Database } from '@floodgate/database';
import { DEFAULT_HOLD_SHARE_PERCENT } from './settings.ts';

/** A ticket whose expired holds were released. */
interface ExpiredTicket {
  ticketId: number;
  /** The number of cancelled registrations. Null: another transaction keeps the ticket locked. */
  expired: number | null;
}

/**
 * Cancels up to `limit` registrations of a shard whose hold has expired, ticket by ticket. Returns how many
 * it has cancelled. Skips tickets that another transaction keeps locked.
 */
export async function expireHolds(
  db: Database,
  shardId: number,
  limit: number,
  holdSharePercent = DEFAULT_HOLD_SHARE_PERCENT,
) {
  const visited: number[] = [];
  let total = 0;
  while (total < limit) {
    const { rows } = await sql<{ ticket: ExpiredTicket | null }>`
      select expire_holds(${shardId}::integer, ${limit - total}::integer, ${visited}::integer[],
        ${holdSharePercent}::integer) as ticket`.execute(db);
    const { ticket } = rows[0]!;
    if (!ticket) break;
    visited.push(ticket.ticketId);
    total += ticket.expired ?? 0;
  }
  return total;
}
