import type { Database } from '@floodgate/database';
import type { Event } from '@floodgate/events';
import { sql } from 'kysely';
import { isIn, isOf, soldSeats, type Period, type Subject } from './sold-seats.ts';
import { EVERYTHING } from './windows.ts';

/** The seats of a ticket, a partner and a price that were cancelled within a day. */
export interface CancellationsRow {
  /** The start of the day, in the time zone of the event. */
  at: Date;
  ticketId: number;
  ticket: string;
  partnerId: number;
  partner: string;
  /** ISO 4217. Null: the event has no currency. */
  currency: string | null;
  /** That of the sale. */
  price: number;
  /** Seats, whenever they were sold. */
  cancelled: number;
  /** `price` times `cancelled`. */
  cancelledAmount: number;
}

/** Returns what was cancelled of an event by day, oldest first. */
export async function readCancellations(db: Database, event: Event, only: Period & Subject) {
  const { shardId, currency } = event;
  const zone = event.timeZone ?? 'UTC';
  const { rows } = await sql<Omit<CancellationsRow, 'currency'>>`
    select m.at, m.ticket_id as "ticketId", t.title as ticket, m.partner_id as "partnerId", p.name as partner,
      m.price, m.cancelled, m.price * m.cancelled as "cancelledAmount"
    from (
      select date_trunc('day', s.cancelled_at, ${zone}) as at, s.ticket_id, s.partner_id, s.price,
        count(*)::integer as cancelled
      from (${soldSeats(event, EVERYTHING)}) s
      where ${isIn('s.cancelled_at', only)} and ${isOf('s', only)}
      group by 1, 2, 3, 4
    ) m
    join tickets t on t.shard_id = ${shardId} and t.id = m.ticket_id
    join partners p on p.id = m.partner_id
    order by m.at, m.ticket_id, m.partner_id, m.price`.execute(db);
  return rows.map(({ price, cancelled, cancelledAmount, ...row }): CancellationsRow => {
    return { ...row, currency, price, cancelled, cancelledAmount };
  });
}
