import type { Database } from '@floodgate/database';
import { TICKET_COLUMNS } from '@floodgate/database/schema/schema';
import type { TicketRow } from './ticket-settings.ts';

/** Returns a ticket, and keeps others from changing it. Undefined where there is none. */
export async function lockTicket(transaction: Database, ticketId: number): Promise<TicketRow | undefined> {
  return transaction
    .selectFrom('tickets')
    .select(TICKET_COLUMNS)
    .where('id', '=', ticketId)
    .forNoKeyUpdate()
    .executeTakeFirst();
}
