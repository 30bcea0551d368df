import type { Database } from '@floodgate/database';
import { TICKET_COLUMNS } from '@floodgate/database/schema/schema';
import type { TicketRow } from './ticket-settings.ts';

/** Returns all tickets of an event, on sale or not. */
export async function listTickets(db: Database, eventId: number): Promise<TicketRow[]> {
  return db
    .selectFrom('tickets')
    .select(TICKET_COLUMNS)
    .where('event_id', '=', eventId)
    .orderBy('id')
    .execute();
}
