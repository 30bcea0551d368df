import { TICKET_COLUMNS, type Database, type TicketsTable } from '@floodgate/database';
import { sql, type Selectable } from 'kysely';

export type TicketRow = Selectable<TicketsTable>;

/** The tickets of an event that can be bought now: active, inside their sales window, seats left. */
export async function listAvailableTickets(db: Database, eventId: number): Promise<TicketRow[]> {
  return db
    .selectFrom('tickets')
    .select(TICKET_COLUMNS)
    .where('event_id', '=', eventId)
    .where('active', '=', true)
    .where(sql<boolean>`coalesce(sale_starts_at <= now(), true)`)
    .where(sql<boolean>`coalesce(now() < sale_ends_at, true)`)
    .whereRef('taken', '<', 'capacity')
    .orderBy('id')
    .execute();
}

export async function listTickets(db: Database, eventId: number): Promise<TicketRow[]> {
  return db
    .selectFrom('tickets')
    .select(TICKET_COLUMNS)
    .where('event_id', '=', eventId)
    .orderBy('id')
    .execute();
}

/** What an operator sets on a ticket. */
export interface TicketSettings {
  title: string;
  price: number;
  benefits: string;
  active: boolean;
  capacity: number;
  saleStartsAt: Date | null;
  saleEndsAt: Date | null;
}

const COLUMNS = {
  title: 'title',
  price: 'price',
  benefits: 'benefits',
  active: 'active',
  capacity: 'capacity',
  saleStartsAt: 'sale_starts_at',
  saleEndsAt: 'sale_ends_at',
} as const satisfies Record<keyof TicketSettings, keyof TicketsTable>;

function columnsOf(settings: Partial<TicketSettings>): Record<string, unknown> {
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [COLUMNS[name as keyof TicketSettings], value]));
}

/** Creates a ticket under an event; `title` and `capacity` have no default. */
export async function createTicket(
  db: Database,
  eventId: number,
  settings: Partial<TicketSettings> & Pick<TicketSettings, 'title' | 'capacity'>,
  author: string,
): Promise<TicketRow> {
  return db
    .insertInto('tickets')
    .values({
      title: settings.title,
      capacity: settings.capacity,
      ...columnsOf(settings),
      event_id: eventId,
      last_modified_by: author,
    })
    .returning(TICKET_COLUMNS)
    .executeTakeFirstOrThrow();
}

/** Changes what is given and leaves the rest. Undefined where there is no such ticket. */
export async function updateTicket(
  db: Database,
  ticketId: number,
  settings: Partial<TicketSettings>,
  author: string,
): Promise<TicketRow | undefined> {
  return db
    .updateTable('tickets')
    .set({ ...columnsOf(settings), last_modified_by: author, last_modified_at: sql<Date>`now()` })
    .where('id', '=', ticketId)
    .returning(TICKET_COLUMNS)
    .executeTakeFirst();
}
