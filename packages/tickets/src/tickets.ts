import { sql, type Selectable } from 'kysely';
import type { Database, TicketsTable } from '@floodgate/database';
import { TICKET_COLUMNS } from '@floodgate/database/schema/schema';

/** A ticket as it is stored. */
export type TicketRow = Selectable<TicketsTable>;

/** What an operator sets on a ticket. */
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

/** Creates a ticket under an event; `title` and `capacity` have no default. */
export async function createTicket(db: Database, eventId: number, settings: NewTicket, author: string) {
  return db
    .insertInto('tickets')
    .values({ ...columnsOf(settings), event_id: eventId, last_modified_by: author })
    .returning(TICKET_COLUMNS)
    .executeTakeFirstOrThrow();
}

/** Returns a ticket, and keeps others from changing it. Undefined where there is none. */
export async function lockTicket(transaction: Database, ticketId: number) {
  return transaction
    .selectFrom('tickets')
    .select(TICKET_COLUMNS)
    .where('id', '=', ticketId)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** Changes what is given and leaves the rest. Undefined where there is no such ticket. */
export async function updateTicket(db: Database, ticketId: number, given: GivenSettings, author: string) {
  return db
    .updateTable('tickets')
    .set({ ...columnsOf(given), last_modified_by: author, last_modified_at: sql<Date>`now()` })
    .where('id', '=', ticketId)
    .returning(TICKET_COLUMNS)
    .executeTakeFirst();
}

/** Returns all tickets of an event, on sale or not. */
export async function listTickets(db: Database, eventId: number) {
  return selectTickets(db, eventId).execute();
}

/** Returns the tickets of an event that can be bought now: active, inside their sales window, seats left. */
export async function listAvailableTickets(db: Database, eventId: number) {
  return selectTickets(db, eventId)
    .where('active', '=', true)
    .where(sql<boolean>`coalesce(sale_starts_at <= now(), true)`)
    .where(sql<boolean>`coalesce(now() < sale_ends_at, true)`)
    .whereRef('taken', '<', 'capacity')
    .execute();
}

const selectTickets = (db: Database, eventId: number) =>
  db.selectFrom('tickets').select(TICKET_COLUMNS).where('event_id', '=', eventId).orderBy('id');
