import { sql, type RawBuilder } from 'kysely';
import { plainArray } from './array-literals.ts';
import type { Database } from './connect.ts';
import { statementFailure } from './failures.ts';

/**
 * A condition, always true, that bounds how long its statement waits for a row (0: not at all bounded). Postgres evaluates
 * it once, before it looks at a row; it holds for the transaction, so it may go through a pooler.
 */
export function lockTimeout(withinMs: number): RawBuilder<boolean> {
  return sql`(select set_config('lock_timeout', ${String(withinMs)}, true)) is not null`;
}

/** A ticket, and the event under which it was asked for. */
export interface TicketOfEvent {
  ticketId: number;
  eventId: number;
}

/** Those of the tickets, found under their events, whose rows somebody else holds now: each once. Waits for nobody. */
export async function findLockedTickets(
  db: Database,
  tickets: readonly TicketOfEvent[],
): Promise<TicketOfEvent[]> {
  const { rows } = await sql<TicketOfEvent>`
    with wanted as (
      select distinct id, event_id
      from unnest(
        ${plainArray(tickets.map(({ ticketId }) => ticketId))}::integer[],
        ${plainArray(tickets.map(({ eventId }) => eventId))}::integer[]
      ) as wanted (id, event_id)
    ),
    free as materialized (
      select tickets.id from tickets
      where (id, event_id) in (select id, event_id from wanted)
      for no key update skip locked
    )
    select id as "ticketId", event_id as "eventId" from tickets
    where (id, event_id) in (select id, event_id from wanted) and id not in (select id from free)`.execute(
    db,
  );
  return rows;
}

/** Waits in line for a ticket's row, and leaves it at once. Answers false where its turn did not come in time. */
export async function awaitTicket(db: Database, ticketId: number, withinMs: number): Promise<boolean> {
  try {
    await sql`
      select from tickets where id = ${ticketId} and ${lockTimeout(withinMs)} for no key update`.execute(db);
    return true;
  } catch (error) {
    if (statementFailure(error) === 'locked') return false;
    throw error;
  }
}
