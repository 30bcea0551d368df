import type { Database } from '@floodgate/database';
import { Failure } from '@floodgate/service/failure';
import { sql } from 'kysely';
import { decimalsOf } from './currency.ts';
import { hasSales, type Event } from './events.ts';

/** A price with more decimals than a currency. */
interface WrongPrice {
  ticketId: number;
  /** As it is stored, with two decimals. */
  price: string;
  /** Whether the ticket has this price now. */
  isPresent: boolean;
}

/**
 * Throws Failure if the currency of an event cannot change like this: a currency of which something was sold
 * stays, and every price must fit the new one. Call it in the transaction of the change, which has locked the
 * event: no ticket is added and no price changes meanwhile.
 */
export async function assertCurrencyMayChange(db: Database, before: Event, after: Event) {
  const { id, shardId, currency } = after;
  if (before.currency === currency) return;
  if (before.currency !== null) {
    await lockTickets(db, shardId, id);
    if (await hasSales(db, shardId, id))
      throw new Failure(`the currency stays ${before.currency}, because the event has registrations`);
  }
  if (currency === null) return;
  for (const { ticketId, price, isPresent } of await findWrongPrices(db, shardId, id, currency)) {
    const rule = `prices in ${currency} have ${decimalsOf(currency) || 'no'} decimals`;
    if (isPresent) throw new Failure(`${rule}, but ticket ${ticketId} costs ${price}`);
    // Without sales, nobody has paid an earlier price.
    if (await hasSales(db, shardId, id))
      throw new Failure(`${rule}, but ticket ${ticketId} did cost ${price}, and the event has registrations`);
  }
}

/** In the order in which reservations lock them: so a sale is committed, and visible, or begins later. */
const lockTickets = (db: Database, shardId: number, eventId: number) =>
  sql`
    select from tickets where shard_id = ${shardId} and event_id = ${eventId}
    order by id for no key update`.execute(db);

/** Returns the prices of the tickets of an event that have too many decimals, present ones first. */
async function findWrongPrices(db: Database, shardId: number, eventId: number, currency: string) {
  const { rows } = await sql<WrongPrice>`
    select t.id as "ticketId", p.price::text as price, p.price = t.price as "isPresent"
    from tickets t join ticket_prices p on p.shard_id = t.shard_id and p.ticket_id = t.id
    where t.shard_id = ${shardId} and t.event_id = ${eventId}
      and p.price <> round(p.price::numeric, ${decimalsOf(currency)}::integer)
    order by p.price = t.price desc, t.id limit 2`.execute(db);
  return rows;
}
