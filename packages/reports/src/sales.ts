import type { Database } from '@floodgate/database';
import type { Event } from '@floodgate/events';
import { sql } from 'kysely';
import { isIn, soldSeats, type Period } from './sold-seats.ts';
import { countInWindows } from './windows.ts';

/** The steps of a report in time. */
export const STEPS = ['hour', 'day'] as const;

export interface SalesOptions extends Period {
  by: (typeof STEPS)[number];
}

/** The seats of a ticket that a partner sold, and those that were cancelled, within an hour or a day. */
export interface SalesRow {
  /** The start of the hour or day, in the time zone of the event. */
  at: Date;
  ticketId: number;
  ticket: string;
  partnerId: number;
  partner: string;
  /** Seats. */
  sold: number;
  /** Seats, whenever they were sold. */
  cancelled: number;
}

/**
 * Returns the sales of an event over time, oldest first. Hours and days without a sale or a cancellation have
 * no row.
 */
export async function readSales(db: Database, event: Event, { by, ...period }: SalesOptions) {
  const zone = event.timeZone ?? 'UTC';
  const { shardId } = event;
  const groups = await countInWindows(
    db,
    shardId,
    (window) => sql`
      select json_build_object('at', at, 'ticket_id', ticket_id, 'partner_id', partner_id)::text as group,
        array[sold, cancelled] as counts
      from (
        select date_trunc(${by}, moved.at, ${zone}) as at, s.ticket_id, s.partner_id,
          sum(moved.sold)::integer as sold, sum(moved.cancelled)::integer as cancelled
        from (${soldSeats(event, window)}) s
        cross join lateral (values (s.sold_at, 1, 0), (s.cancelled_at, 0, 1)) moved (at, sold, cancelled)
        where ${isIn('moved.at', period)}
        group by 1, 2, 3
      ) m`,
  );
  const { rows } = await sql<SalesRow>`
    select m.at, m.ticket_id as "ticketId", t.title as ticket, m.partner_id as "partnerId", p.name as partner,
      m.counts[1] as sold, m.counts[2] as cancelled
    from json_to_recordset(${groups}::json)
      as m (at timestamptz, ticket_id integer, partner_id integer, counts integer[])
    join tickets t on t.shard_id = ${shardId} and t.id = m.ticket_id
    join partners p on p.id = m.partner_id
    order by m.at, m.ticket_id, m.partner_id`.execute(db);
  return rows;
}
