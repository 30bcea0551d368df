import type { Database } from '@floodgate/database';
import { sql, type RawBuilder } from 'kysely';

/** Returns the SQL of the price of a ticket of a shard at an instant, both as SQL. Null: the price is missing. */
export const priceAt = (shardId: number, ticketId: RawBuilder<unknown>, instant: RawBuilder<unknown>) =>
  sql<number | null>`(
    select price.price from ticket_prices price
    where price.shard_id = ${shardId} and price.ticket_id = ${ticketId} and price.valid_from <= ${instant}
    order by price.valid_from desc limit 1
  )`;

/**
 * Returns the SQL of the price of a registration `r` of a shard: the price of its ticket that was valid when
 * its seat was reserved, by the clock of the shard's server. It is the same for a seat that was held, offered,
 * confirmed or cancelled later. A new attendee has the price of the seat. Null: the price is missing, which
 * `reconcile` reports.
 *
 * `r` needs ticket_id, seat and reserved_at. Works in every clause of a query about one shard, also on Citus.
 */
export const priceOf = (shardId: number) =>
  // The first registration of the seat. Attendees that were changed before seats were stored were changed before
  // prices were: both registrations have the first price.
  priceAt(
    shardId,
    sql`r.ticket_id`,
    sql`coalesce(
      (
        select first.reserved_at from registrations first
        where first.shard_id = ${shardId} and first.serial = r.seat
      ),
      r.reserved_at
    )`,
  );

/**
 * Returns the SQL of the registrations of an event of a shard, each with its `serial` and `price`, to be used
 * as a table. It reads all registrations of the shard: there is no index by event.
 */
export const pricesOf = (shardId: number, eventId: number) => sql<{ serial: number; price: number | null }>`(
  select r.serial, ${priceOf(shardId)} as price from registrations r
  where r.shard_id = ${shardId} and r.event_id = ${eventId}
)`;

/** Returns the price of a registration; null if there is no such registration, or its price is missing. */
export async function findPrice(db: Database, shardId: number, serial: number) {
  const { rows } = await sql<{ price: number | null }>`
    select ${priceOf(shardId)} as price from registrations r
    where r.shard_id = ${shardId} and r.serial = ${serial}`.execute(db);
  return rows[0]?.price ?? null;
}
