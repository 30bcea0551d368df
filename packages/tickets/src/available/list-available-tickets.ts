import { sql } from 'kysely';
import type { Database } from '@floodgate/database';
import { TICKET_COLUMNS } from '@floodgate/database/schema/schema';
import type { TicketRow } from '../ticket-settings.ts';

/** Returns the tickets of an event that can be bought now: active, inside their sales window, seats left. */
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
