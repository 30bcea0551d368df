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
