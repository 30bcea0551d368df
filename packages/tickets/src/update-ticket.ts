import { sql } from 'kysely';
import type { Database } from '@floodgate/database';
import { TICKET_COLUMNS } from '@floodgate/database/schema/schema';
import { columnsOf, type TicketRow, type TicketSettings } from './ticket-settings.ts';

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
