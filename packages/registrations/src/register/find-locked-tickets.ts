import { sql } from 'kysely';
import { plainArray, type Database } from '@floodgate/database';

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
      select id, event_id from tickets
      where (id, event_id) in (
        select * from unnest(
          ${plainArray(tickets.map(({ ticketId }) => ticketId))}::integer[],
          ${plainArray(tickets.map(({ eventId }) => eventId))}::integer[]
        )
      )
    ),
    free as materialized (
      select id from tickets where id in (select id from wanted) for no key update skip locked
    )
    select id as "ticketId", event_id as "eventId" from wanted where id not in (select id from free)`.execute(
    db,
  );
  return rows;
}
