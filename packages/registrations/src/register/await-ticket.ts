import { sql } from 'kysely';
import { type Database, statementFailure, lockTimeout } from '@floodgate/database';

/** Waits in line for a ticket's row, and leaves it at once. Answers false where its turn did not come in time. */
export async function awaitTicket(db: Database, ticketId: number, withinMs: number): Promise<boolean> {
  try {
    await sql`
      select from tickets where id = ${ticketId} and ${lockTimeout(withinMs)} for no key update`.execute(db);
    return true;
  } catch (error) {
    if (statementFailure(error) === 'locked') return false;
    throw error;
  }
}
