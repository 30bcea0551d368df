import type { Database } from '@floodgate/database';
import type { Event } from '@floodgate/events';
import { sql } from 'kysely';

/** The seats of a ticket now. */
export interface TicketFigures {
  ticketId: number;
  ticket: string;
  capacity: number;
  sold: number;
  /** Seats in holds, baskets and offers. */
  held: number;
  left: number;
  /** The price of the sold seats together. Null: the ticket had several prices, so only the settlement knows. */
  amount: number | null;
}

/** The figures of an event now. */
export interface Figures {
  eventId: number;
  /** ISO 4217. Null: the event has no currency. */
  currency: string | null;
  tickets: TicketFigures[];
  /** People who were let in, at most `MOST_ADMITTED`. */
  admitted: number;
  /** Whether there are more than `admitted`. */
  moreAdmitted: boolean;
}

const MOST_ADMITTED = 100_000;

/** Returns the figures of an event now. It takes the same time for an event of any size. */
export async function readFigures(db: Database, event: Event): Promise<Figures> {
  const { id: eventId, currency } = event;
  const [tickets, admitted] = await Promise.all([readTickets(db, event), countAdmitted(db, event)]);
  return {
    eventId,
    currency,
    tickets,
    admitted: Math.min(admitted, MOST_ADMITTED),
    moreAdmitted: admitted > MOST_ADMITTED,
  };
}

async function readTickets(db: Database, { shardId, id }: Event) {
  const { rows } = await sql<TicketFigures>`
    select t.id as "ticketId", t.title as ticket, t.capacity, greatest(t.taken - h.held, 0) as sold, h.held,
      t.capacity - t.taken as left,
      case when p.prices = 1 then t.price * greatest(t.taken - h.held, 0) end as amount
    from tickets t
    cross join lateral (
      select coalesce(sum(seats), 0)::integer as held from held_seats
      where shard_id = ${shardId} and ticket_id = t.id
    ) h
    cross join lateral (
      select count(*)::integer as prices from ticket_prices where shard_id = ${shardId} and ticket_id = t.id
    ) p
    where t.shard_id = ${shardId} and t.event_id = ${id}
    order by t.id`.execute(db);
  return rows;
}

/** Returns how many people were let in. A person that was let in at several areas counts once. */
async function countAdmitted(db: Database, { shardId, id }: Event) {
  const { rows } = await sql<{ admitted: number }>`
    select count(distinct seat)::integer as admitted from (
      select seat from admissions
      where event_id = ${id} and shard_id = ${shardId} and undone_at is null limit ${MOST_ADMITTED + 1}
    ) a`.execute(db);
  return rows[0]!.admitted;
}
