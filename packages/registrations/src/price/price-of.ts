import type { Database } from '@floodgate/database';
import { sql, type RawBuilder } from 'kysely';

// The price of a registration is the price of its ticket that was valid when its seat was reserved, by the clock
// of the shard's server. It is the same for a seat that was held or offered first, and for one that was cancelled.
// A new attendee has the price of the seat.

/** An event, with its shard. */
interface EventOfShard {
  shardId: number;
  eventId: number;
}

/**
 * Returns the SQL of a join that adds the prices of an event's tickets to its registrations `r`. `priceOf` reads
 * the price of each. One lookup by row would take ten times as long: with this join, the prices of a million
 * registrations take 1.2 to 1.9 seconds of an idle core, of tickets with 20 prices each.
 */
export const joinPrices = ({ shardId, eventId }: EventOfShard) => sql`
  left join (
    select ticket_id, array_agg(valid_from order by valid_from) as valid_from,
      array_agg(price::numeric order by valid_from) as price
    from ticket_prices
    where shard_id = ${shardId} and ticket_id in (
      select id from tickets where shard_id = ${shardId} and event_id = ${eventId}
    )
    group by ticket_id
  ) prices on prices.ticket_id = r.ticket_id`;

/** Returns the SQL of the price of a ticket at an instant, in a query with `joinPrices`. Null: it is missing. */
export const priceAt = (instant: RawBuilder<unknown>) =>
  sql<number | null>`prices.price[width_bucket(${instant}, prices.valid_from)]`;

/**
 * Returns the SQL of the price of a registration `r`, in a query with `joinPrices`. Null: the price is missing,
 * which `reconcile` reports.
 */
export const priceOf = ({ shardId }: Pick<EventOfShard, 'shardId'>) =>
  priceAt(sql`
    -- A seat is named by its first registration. Attendees that were changed before seats were stored were changed
    -- before prices were stored, too: all registrations of such a seat have the first price.
    case when r.seat is null then r.reserved_at else (
      select first.reserved_at from registrations first where first.shard_id = ${shardId} and first.serial = r.seat
    ) end`);

/** Returns the SQL of a table with the `serial` and the `price` of each registration of an event. */
export const pricesOf = (event: EventOfShard) => sql<{ serial: number; price: number | null }>`(
  select r.serial, ${priceOf(event)} as price from registrations r ${joinPrices(event)}
  where r.shard_id = ${event.shardId} and r.event_id = ${event.eventId}
)`;

/** Returns the price of a registration; null if the event has no such registration, or its price is missing. */
export async function findPrice(db: Database, event: EventOfShard, serial: number) {
  const { rows } = await sql<{ price: number | null }>`
    select ${priceOf(event)} as price from registrations r ${joinPrices(event)}
    where r.shard_id = ${event.shardId} and r.event_id = ${event.eventId} and r.serial = ${serial}`.execute(
    db,
  );
  return rows[0]?.price ?? null;
}
