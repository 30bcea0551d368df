import type { Database } from '@floodgate/database';
import { TICKET_COLUMNS } from '@floodgate/database/schema/schema';
import { columnsOf, type TicketRow, type TicketSettings } from './ticket-settings.ts';

/** Creates a ticket under an event; `title` and `capacity` have no default. */
export async function createTicket(
  db: Database,
  eventId: number,
  settings: Partial<TicketSettings> & Pick<TicketSettings, 'title' | 'capacity'>,
  author: string,
): Promise<TicketRow> {
  return db
    .insertInto('tickets')
    .values({ ...columnsOf(settings), event_id: eventId, last_modified_by: author })
    .returning(TICKET_COLUMNS)
    .executeTakeFirstOrThrow();
}
