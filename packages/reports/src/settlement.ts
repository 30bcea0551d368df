import type { Database } from '@floodgate/database';
import type { Event } from '@floodgate/events';
import { sql } from 'kysely';
import { isIn, soldSeats, type Period } from './sold-seats.ts';
import { countInWindows } from './windows.ts';

/** The seats of a ticket that a partner sold at a price, and those that were cancelled, within a period. */
export interface SettlementRow {
  partnerId: number;
  partner: string;
  ticketId: number;
  ticket: string;
  /** ISO 4217. Null: the event has no currency. */
  currency: string | null;
  price: number;
  /** Seats. */
  sold: number;
  /** Seats, whenever they were sold. */
  cancelled: number;
  /** `price` times `sold`. */
  soldAmount: number;
  cancelledAmount: number;
  /** `soldAmount` without `cancelledAmount`. */
  netAmount: number;
}

/**
 * Returns what each partner owes for an event: by ticket and price, in the order of their ids. The price of a
 * seat is the one that was valid when it was reserved for its first attendee. A cancellation has the price of
 * its sale, also if the sale is in an earlier period, so the sums of periods that follow each other are the
 * sum of the whole. Postgres computes the amounts without rounding.
 */
export async function readSettlement(db: Database, event: Event, period: Period) {
  const { shardId, currency } = event;
  const groups = await countInWindows(
    db,
    shardId,
    (window) => sql`
      select json_build_object('partner_id', partner_id, 'ticket_id', ticket_id, 'price', price::text)::text as group,
        array[sold, cancelled] as counts
      from (
        select s.partner_id, s.ticket_id, s.price,
          (count(*) filter (where ${isIn('s.sold_at', period)}))::integer as sold,
          (count(*) filter (where ${isIn('s.cancelled_at', period)}))::integer as cancelled
        from (${soldSeats(event, window)}) s
        group by 1, 2, 3
      ) m
      where sold + cancelled > 0`,
  );
  const { rows } = await sql<Omit<SettlementRow, 'currency'>>`
    select m.partner_id as "partnerId", p.name as partner, m.ticket_id as "ticketId", t.title as ticket, m.price,
      m.sold, m.cancelled, m.price * m.sold as "soldAmount", m.price * m.cancelled as "cancelledAmount",
      m.price * (m.sold - m.cancelled) as "netAmount"
    from (
      select partner_id, ticket_id, price, counts[1] as sold, counts[2] as cancelled
      from json_to_recordset(${groups}::json)
        as groups (partner_id integer, ticket_id integer, price numeric, counts integer[])
    ) m
    join tickets t on t.shard_id = ${shardId} and t.id = m.ticket_id
    join partners p on p.id = m.partner_id
    order by m.partner_id, m.ticket_id, m.price`.execute(db);
  return rows.map(({ price, ...row }): SettlementRow => ({ ...row, currency, price }));
}
