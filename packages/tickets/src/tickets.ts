import { sql, type Selectable } from 'kysely';
import type { Database, TicketsTable } from '@floodgate/database';
import { inTransaction } from '@floodgate/database/connection/in-transaction';
import { findEvent, keepInShard } from '@floodgate/events';
import { askShards, awayText, shardIds } from '@floodgate/database/reads/shards';
import { TICKET_COLUMNS } from '@floodgate/database/schema/schema';
import { Failure } from '@floodgate/service/failure';

/** A ticket as it is stored. */
export type TicketRow = Pick<Selectable<TicketsTable>, (typeof TICKET_COLUMNS)[number]>;

/** The settings of a ticket. */
export type TicketSettings = ReturnType<typeof settingsOf>;

type GivenSettings = Partial<TicketSettings>;

/** Returns what an operator has set on a ticket. */
export function settingsOf(row: TicketRow) {
  const { title, price, benefits, active, capacity, sale_starts_at, sale_ends_at } = row;
  return { title, price, benefits, active, capacity, saleStartsAt: sale_starts_at, saleEndsAt: sale_ends_at };
}

export type DescribedTicket = ReturnType<typeof describeTicket>;

/** Returns a ticket as operators are shown it. */
export function describeTicket(row: TicketRow) {
  return {
    id: row.id,
    eventId: row.event_id,
    ...settingsOf(row),
    taken: row.taken,
    left: row.capacity - row.taken,
    createdAt: row.created_at,
    lastModifiedAt: row.last_modified_at,
    lastModifiedBy: row.last_modified_by,
  };
}

/** Returns the columns of the settings; what is not given is undefined, and left alone. */
function columnsOf<Given extends GivenSettings>(settings: Given) {
  const { saleStartsAt, saleEndsAt, ...others } = settings;
  return { ...others, sale_starts_at: saleStartsAt, sale_ends_at: saleEndsAt };
}

type NewTicket = GivenSettings & Pick<TicketSettings, 'title' | 'capacity'>;

/** Creates a ticket under an event, in its shard. Throws Failure if there is no such event. */
export async function createTicket(db: Database, eventId: number, settings: NewTicket, author: string) {
  return inTransaction(db, async (transaction) => {
    await keepInShard(transaction, eventId);
    const { shardId: shard_id } = await findEvent(transaction, eventId);
    return transaction
      .insertInto('tickets')
      .values({ ...columnsOf(settings), shard_id, event_id: eventId, last_modified_by: author })
      .returning(TICKET_COLUMNS)
      .executeTakeFirstOrThrow();
  });
}

/**
 * Returns a ticket with its shard, and keeps others from changing it. Undefined if it does not exist. Throws Failure if it may be in a
 * shard that does not answer.
 */
export async function lockTicket(transaction: Database, ticketId: number) {
  const { answers, away } = await askShards(await shardIds(transaction), async (shardId) => {
    await sql`savepoint asking`.execute(transaction);
    const ticket = transaction
      .selectFrom('tickets')
      .select(['shard_id', ...TICKET_COLUMNS])
      .where('shard_id', '=', shardId)
      .where('id', '=', ticketId)
      .forNoKeyUpdate();
    return ticket.executeTakeFirst().catch(async (error: unknown) => {
      await sql`rollback to savepoint asking`.execute(transaction);
      throw error;
    });
  });
  const found = answers.find((answer) => answer !== undefined);
  if (!found && away.length > 0) throw new Failure(`no such ticket is found, but ${awayText(away)}`);
  return found;
}

type TicketOfShard = Pick<Selectable<TicketsTable>, 'shard_id' | 'id'>;

/** Changes what is given of a ticket that is locked, and leaves the rest. */
export const updateTicket = (
  db: Database,
  { shard_id, id }: TicketOfShard,
  given: GivenSettings,
  author: string,
) =>
  db
    .updateTable('tickets')
    .set({ ...columnsOf(given), last_modified_by: author, last_modified_at: sql<Date>`now()` })
    .where('shard_id', '=', shard_id)
    .where('id', '=', id)
    .returning(TICKET_COLUMNS)
    .executeTakeFirstOrThrow();

/** Has finalization publish whether a ticket is sold out. */
export async function publishTicketState(transaction: Database, { shard_id, id }: TicketOfShard) {
  await transaction.insertInto('changes').values({ shard_id, kind: 'ticket', ticket_id: id }).execute();
}

/** Returns all tickets of an event, on sale or not. Throws Failure if there is no such event. */
export async function listTickets(db: Database, eventId: number) {
  return selectTickets(db, eventId, (await findEvent(db, eventId)).shardId).execute();
}

/** Returns the tickets of an event that can be bought now: active, inside their sales window, seats left. */
export const listAvailableTickets = (db: Database, eventId: number, shardId: number) =>
  selectTickets(db, eventId, shardId)
    .where('active', '=', true)
    .where(sql<boolean>`coalesce(sale_starts_at <= now(), true)`)
    .where(sql<boolean>`coalesce(now() < sale_ends_at, true)`)
    .whereRef('taken', '<', 'capacity')
    .execute();

const selectTickets = (db: Database, eventId: number, shardId: number) =>
  db
    .selectFrom('tickets')
    .select(TICKET_COLUMNS)
    .where('shard_id', '=', shardId)
    .where('event_id', '=', eventId)
    .orderBy('id');
