import { sql } from 'kysely';
import {
  askShards,
  awayText,
  inCamelCase,
  inTransaction,
  shardIds,
  type Database,
} from '@floodgate/database';
import { findEvent, keepInShard, type Event } from '@floodgate/events';
import { assertPrice } from '@floodgate/events/currency';
import { Failure, NotFound } from '@floodgate/service/failure';
import { storeFirstPrice, storePrice, type TicketOfShard } from './prices.ts';

/**
 * The columns of a ticket. Not *: services prepare their statements, and Postgres rejects a prepared
 * statement (0A000) after a migration has added a column to its result.
 */
const COLUMNS = [
  'id',
  'eventId',
  'title',
  'price',
  'benefits',
  'active',
  'capacity',
  'saleStartsAt',
  'saleEndsAt',
  'offerHours',
  'waitingClosesAt',
  'waiting',
  'taken',
  'allocated',
  'createdAt',
  'lastModifiedAt',
  'lastModifiedBy',
] as const;

/** A ticket of an event. */
export interface Ticket extends TicketSettings {
  id: number;
  eventId: number;
  /** Number of waiting entries. Meanwhile it is sold out for everybody else. */
  waiting: number;
  taken: number;
  /** Whether it has allocations. */
  allocated: boolean;
  createdAt: Date;
  lastModifiedAt: Date;
  lastModifiedBy: string;
}

/** The settings of a ticket. */
export interface TicketSettings {
  title: string;
  price: number;
  benefits: string;
  active: boolean;
  capacity: number;
  saleStartsAt: Date | null;
  saleEndsAt: Date | null;
  /** How long an offer of its waiting list lasts; null: it has no list. */
  offerHours: number | null;
  waitingClosesAt: Date | null;
}

/** Returns the settings of a ticket. */
export function settingsOf(ticket: Ticket): TicketSettings {
  const { title, price, benefits, active, capacity, saleStartsAt, saleEndsAt } = ticket;
  const { offerHours, waitingClosesAt } = ticket;
  return { title, price, benefits, active, capacity, saleStartsAt, saleEndsAt, offerHours, waitingClosesAt };
}

/** A ticket with its number of seats left. */
export interface DescribedTicket extends Ticket {
  left: number;
}

export const describeTicket = (ticket: Ticket): DescribedTicket => ({
  ...ticket,
  left: ticket.capacity - ticket.taken,
});

type NewTicket = Partial<TicketSettings> & Pick<TicketSettings, 'title' | 'capacity'>;

/** The author that partners see if a change names none. */
export const DEFAULT_AUTHOR = 'operator';

/**
 * Creates a ticket under an event, in its shard. Throws Failure if there is no such event, and InvalidInput if
 * the price has more decimals than the event's currency.
 */
export async function createTicket(
  db: Database,
  eventId: number,
  settings: NewTicket,
  author: string,
): Promise<Ticket> {
  return inTransaction(db, async (tx) => {
    await keepInShard(tx, eventId);
    const event = await findEvent(tx, eventId);
    const { shardId, currency } = event;
    if (settings.active !== false) assertMaySell(event);
    assertPrice(settings.price ?? 0, currency);
    const ticket = await inCamelCase(tx)
      .insertInto('tickets')
      .values({ ...settings, shardId, eventId, lastModifiedBy: author })
      .returning(COLUMNS)
      .executeTakeFirstOrThrow();
    await storeFirstPrice(tx, shardId, ticket.id, ticket.price);
    return ticket;
  });
}

const selectTicket = (db: Database, shardId: number, id: number) =>
  inCamelCase(db)
    .selectFrom('tickets')
    .select(['shardId', ...COLUMNS])
    .where((where) => where.and({ shardId, id }));

/** Returns a ticket with its shard. Throws Failure if it does not exist. */
export async function findTicket(db: Database, ticketId: number) {
  const { answers, away } = await askShards(await shardIds(db), (shardId) =>
    selectTicket(db, shardId, ticketId).executeTakeFirst(),
  );
  const found = answers.find((answer) => answer !== undefined);
  if (!found)
    throw new NotFound(away.length > 0 ? `no such ticket, but ${awayText(away)}` : 'no such ticket');
  return found;
}

/** Returns the event of a ticket. Undefined: no shard that answers has the ticket. */
export async function findEventOfTicket(db: Database, ticketId: number) {
  const { answers } = await askShards(await shardIds(db), (shardId) =>
    selectTicket(db, shardId, ticketId).executeTakeFirst(),
  );
  return answers.find((answer) => answer !== undefined)?.eventId;
}

/**
 * Locks a ticket and returns it with its shard, which its event does not leave until the transaction ends.
 * Throws Failure if it does not exist, or may be in a shard that does not answer.
 */
export async function lockTicket(db: Database, ticketId: number) {
  // Before the lock of the ticket, like a move.
  const { eventId } = await findInTransaction(db, ticketId);
  await keepInShard(db, eventId);
  return findInTransaction(db, ticketId, true);
}

/** Returns a ticket, and locks it if wanted. A shard that does not answer does not end the transaction. */
async function findInTransaction(db: Database, ticketId: number, locks = false) {
  const { answers, away } = await askShards(await shardIds(db), async (shardId) => {
    await sql`savepoint asking`.execute(db);
    const ticket = selectTicket(db, shardId, ticketId);
    return (locks ? ticket.forNoKeyUpdate() : ticket).executeTakeFirst().catch(async (error: unknown) => {
      await sql`rollback to savepoint asking`.execute(db);
      throw error;
    });
  });
  const found = answers.find((answer) => answer !== undefined);
  if (!found && away.length > 0) throw new Failure(`found no such ticket, but ${awayText(away)}`);
  if (!found) throw new NotFound('no such ticket');
  return found;
}

/**
 * Changes the given settings of a locked ticket, whose event is kept in its shard. Throws InvalidInput if the
 * price has more decimals than the event's currency.
 */
export async function updateTicket(
  db: Database,
  { shardId, id }: TicketOfShard,
  settings: Partial<TicketSettings>,
  author: string,
): Promise<Ticket> {
  const ticket = await inCamelCase(db)
    .updateTable('tickets')
    // Absent values are left out.
    .set({ ...settings, lastModifiedBy: author, lastModifiedAt: sql<Date>`now()` })
    .where((where) => where.and({ shardId, id }))
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
  if (settings.price !== undefined) {
    assertPrice(ticket.price, (await findEvent(db, ticket.eventId)).currency);
    await storePrice(db, { shardId, id }, ticket.price);
  }
  return ticket;
}

/**
 * Takes all tickets of an event off sale and remembers them, or puts those that it took off sale on sale
 * again. Returns the tickets that it has changed, and all tickets of the event, which are locked.
 */
export async function switchSales(db: Database, eventId: number, isOnSale: boolean, author: string) {
  await keepInShard(db, eventId);
  const event = await findEvent(db, eventId);
  const { shardId } = event;
  if (isOnSale) assertMaySell(event);
  // In the order in which reservations lock them.
  const tickets = await selectTickets(db, eventId, shardId).forNoKeyUpdate().execute();
  // Read after the locks: another operator may have changed it meanwhile.
  const stopped = (await findEvent(db, eventId)).stoppedTickets ?? [];
  const changed = tickets
    .filter(({ id, active }) => active !== isOnSale && (!isOnSale || stopped.includes(id)))
    .map(({ id }) => id);
  for (const id of changed) await updateTicket(db, { shardId, id }, { active: isOnSale }, author);
  const stoppedTickets = isOnSale ? null : [...new Set([...stopped, ...changed])];
  await inCamelCase(db).updateTable('events').set({ stoppedTickets }).where('id', '=', eventId).execute();
  return { changed, shardId, all: tickets.map(({ id }) => id) };
}

/**
 * Ends all holds and offers of locked tickets now: no partner can confirm them any more, and the worker
 * releases their seats. Returns the number of seats. No SQL function: on a cluster, one that runs as the
 * owner cannot follow what the operator's role has written.
 */
export async function endHolds(db: Database, shardId: number, ticketIds: readonly number[]) {
  // In the order of change_holds. A confirmation that has locked its seats first is kept.
  const { rows } = await sql<{ serial: number }>`
    select serial from registrations
    where shard_id = ${shardId} and ticket_id = any(${ticketIds}::integer[]) and cancelled_at is null
      and held_until > now() and held_until < 'infinity'
    order by serial for no key update`.execute(db);
  const serials = rows.map(({ serial }) => serial);
  await sql`
    update registrations set held_until = now()
    where shard_id = ${shardId} and serial = any(${serials}::bigint[])`.execute(db);
  return serials.length;
}

/**
 * Closes the waiting lists of locked tickets. The worker ends their entries a moment later. Returns the number
 * of entries.
 */
export async function closeWaitingLists(db: Database, shardId: number, ticketIds: readonly number[]) {
  const { rows } = await sql<{ waiting: number }>`
    update tickets set waiting_closes_at = now()
    where shard_id = ${shardId} and id = any(${ticketIds}::integer[]) and waiting > 0
    returning waiting`.execute(db);
  return rows.reduce((sum, { waiting }) => sum + waiting, 0);
}

function assertMaySell({ archivedAt, calledOffAt }: Event) {
  if (archivedAt) throw new Failure('the event is archived; restore it first');
  if (calledOffAt) throw new Failure('the event is called off, so it sells nothing any more');
}

/**
 * Throws Failure if the ticket is or will be on sale, and its event is archived or called off. The caller
 * keeps the event in its shard.
 */
export async function assertMayBeOnSale(db: Database, { eventId, active, saleEndsAt }: Ticket) {
  if (active && (saleEndsAt === null || +saleEndsAt > Date.now()))
    assertMaySell(await findEvent(db, eventId));
}

/** Makes a later "resume all" leave a ticket as it is, because an operator has changed it alone. */
export async function switchAlone(db: Database, { id, eventId }: Ticket) {
  await sql`
    update events set stopped_tickets = array_remove(stopped_tickets, ${id}::integer)
    where id = ${eventId} and ${id}::integer = any(stopped_tickets)`.execute(db);
}

/** Makes finalization publish whether a ticket is sold out. */
export async function publishTicketState(db: Database, { shardId, id }: TicketOfShard) {
  await db.insertInto('changes').values({ shard_id: shardId, kind: 'ticket', ticket_id: id }).execute();
}

/** Returns all tickets of an event, on sale or not. Throws Failure if there is no such event. */
export async function listTickets(db: Database, eventId: number): Promise<Ticket[]> {
  return selectTickets(db, eventId, (await findEvent(db, eventId)).shardId).execute();
}

/**
 * Returns the active tickets of an event, each with the time at which they were read, by Postgres's clock.
 */
export const readSale = (db: Database, eventId: number, shardId: number) =>
  selectTickets(db, eventId, shardId)
    .select(sql<Date>`now()`.as('readAt'))
    .where('active', '=', true)
    .execute();

const selectTickets = (db: Database, eventId: number, shardId: number) =>
  inCamelCase(db)
    .selectFrom('tickets')
    .select(COLUMNS)
    .where((where) => where.and({ shardId, eventId }))
    .orderBy('id');

/**
 * Returns the seats left of at most `limit` tickets on sale: first those with the fewest, then those that are
 * sold out. Tickets of shards that are down are missing.
 */
export async function readSeatsLeft(db: Database, limit: number) {
  const { answers } = await askShards(await shardIds(db), (shardId) =>
    inCamelCase(db)
      .selectFrom('tickets')
      .select(['id', 'eventId', sql<number>`capacity - taken`.as('left')])
      .where(({ and }) => and({ shardId, active: true }))
      .where(sql<boolean>`now() between coalesce(sale_starts_at, now()) and coalesce(sale_ends_at, now())`)
      .orderBy(sql`capacity = taken`)
      .orderBy('left')
      .limit(limit)
      .execute(),
  );
  const rank = ({ left }: { left: number }) => left || Infinity;
  return answers
    .flat()
    .toSorted((left, right) => rank(left) - rank(right))
    .slice(0, limit);
}
