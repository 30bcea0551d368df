import { sql } from 'kysely';
import { inCamelCase, type Database } from '@floodgate/database';

/** A price of a ticket. It is valid until the next one. */
export interface TicketPrice {
  /** By the clock of the shard's server. Null: since the ticket was created. */
  validFrom: Date | null;
  price: number;
}

/** A ticket, with its shard. */
export interface TicketOfShard {
  shardId: number;
  id: number;
}

/** Valid before every sale, whatever a clock says. */
const ALWAYS = '-infinity';

/** Newest registrations of a shard that a price change looks at. */
const NEWEST = 1_000;

/**
 * Stores that a locked ticket has this price from now on, unless it has it already. Calls that waited for the
 * lock began earlier, so they pay the price that they saw.
 *
 * The moment is read first, from a table of the shard: so the clock is that of the shard's server, which also
 * dates the sales. Citus evaluates the clock of an insert on the coordinator, and runs functions there in a
 * transaction. If the clock was set back, or after a failover to a server with another clock, the moment is
 * later than the price before and the newest sales of the ticket, so what was sold keeps its price.
 */
export async function storePrice(db: Database, { shardId, id }: TicketOfShard, price: number) {
  const { rows } = await sql<{ last: number | null; moment: string }>`
    select
      (
        select price from ticket_prices where shard_id = ${shardId} and ticket_id = ${id}
        order by valid_from desc limit 1
      ) as last,
      to_char(greatest(
        clock_timestamp(),
        (
          select max(valid_from) + interval '1 microsecond' from ticket_prices
          where shard_id = ${shardId} and ticket_id = ${id}
        ),
        (
          select max(reserved_at) + interval '1 microsecond' from (
            select ticket_id, reserved_at from registrations
            where shard_id = ${shardId} order by serial desc limit ${NEWEST}
          ) newest
          where ticket_id = ${id}
        )
      ) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as moment
    from tickets where shard_id = ${shardId} and id = ${id}`.execute(db);
  const { last, moment } = rows[0]!;
  if (last === price) return;
  await insertPrice(db, shardId, id, last === null ? ALWAYS : moment, price);
}

/** Stores the first price of a ticket. */
export const storeFirstPrice = (db: Database, shardId: number, id: number, price: number) =>
  insertPrice(db, shardId, id, ALWAYS, price);

const insertPrice = (db: Database, shardId: number, id: number, validFrom: string, price: number) =>
  sql`
    insert into ticket_prices (shard_id, ticket_id, valid_from, price)
    values (${shardId}, ${id}, ${validFrom}::timestamptz, ${price})`.execute(db);

/** Returns the prices of a ticket, oldest first. */
export const listPrices = (db: Database, { shardId, id }: TicketOfShard): Promise<TicketPrice[]> =>
  inCamelCase(db)
    .selectFrom('ticketPrices')
    .select([sql<Date | null>`nullif(valid_from, '-infinity')`.as('validFrom'), 'price'])
    .where((where) => where.and({ shardId, ticketId: id }))
    .orderBy('ticketPrices.validFrom')
    .execute();
