import { perform } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import { updateTicketAction } from '@floodgate/tickets/actions';
import { sql } from 'kysely';

/** A change of a price, as the one sees it who makes it. Times are microseconds of the clock of the shard's server. */
export interface LoggedChange {
  price: number;
  /** Before it began, and after it was committed. */
  began: number;
  ended: number;
  /** The serials that were sold when it had the lock of the ticket. */
  sold: Set<number>;
}

/** A registration as it is stored. */
export interface StoredSale {
  serial: number;
  ticketId: number;
  replacedBy: number | null;
  reservedAt: number;
}

const MICROSECONDS = (time: string) => sql.raw(`(extract(epoch from ${time}) * 1000000)::bigint`);

async function readClock(db: Database, shardId: number, ticketId: number): Promise<number> {
  const { rows } = await sql<{ now: number }>`
    select ${MICROSECONDS('clock_timestamp()')} as now from tickets
    where shard_id = ${shardId} and id = ${ticketId}`.execute(db);
  return rows[0]!.now;
}

/** Changes a price as an operator does, and writes down what it saw. */
export async function logChange(
  db: Database,
  shardId: number,
  ticketId: number,
  price: number,
): Promise<LoggedChange> {
  const began = await readClock(db, shardId, ticketId);
  const sold = await db.transaction().execute(async (transaction) => {
    await perform(transaction, updateTicketAction, { ticketId, price }, 'test');
    const { rows } = await sql<{ serial: number }>`
      select serial from registrations
      where shard_id = ${shardId} and ticket_id = ${ticketId}`.execute(transaction);
    return new Set(rows.map(({ serial }) => serial));
  });
  return { price, began, sold, ended: await readClock(db, shardId, ticketId) };
}

/** Returns all registrations of an event. */
export async function readSales(db: Database, shardId: number, eventId: number): Promise<StoredSale[]> {
  const { rows } = await sql<StoredSale>`
    select serial, ticket_id as "ticketId", replaced_by as "replacedBy",
      ${MICROSECONDS('reserved_at')} as "reservedAt"
    from registrations where shard_id = ${shardId} and event_id = ${eventId}`.execute(db);
  return rows;
}

/** Returns the first registration of each seat, by the serial of every registration that has it. */
export function firstOfSeats(sales: readonly StoredSale[]): Map<number, StoredSale> {
  const before = new Map(sales.map((sale) => [sale.replacedBy, sale]));
  const firstOf = (sale: StoredSale) => {
    let first = sale;
    for (let earlier = before.get(first.serial); earlier; earlier = before.get(first.serial)) first = earlier;
    return first;
  };
  return new Map(sales.map((sale) => [sale.serial, firstOf(sale)]));
}

/**
 * Returns the prices that a seat can have by the changes of its ticket: those that could be valid when it was
 * reserved, and none that came after it was sold.
 */
export function possiblePrices(
  { serial, reservedAt }: StoredSale,
  firstPrice: number,
  changes: readonly LoggedChange[],
): number[] {
  const prices = [firstPrice, ...changes.map(({ price }) => price)];
  const begun = changes.filter(({ began }) => began <= reservedAt).length;
  const ended = changes.filter((change) => change.ended < reservedAt).length;
  const soldBefore = changes.findIndex(({ sold }) => sold.has(serial));
  const last = Math.min(begun, soldBefore === -1 ? changes.length : soldBefore);
  return prices.slice(ended, last + 1);
}
