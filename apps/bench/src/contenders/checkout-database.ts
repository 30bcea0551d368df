import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import { createEvents } from '../stored/many-events.ts';
import type { RunFixture } from './contender.ts';

/** Runs a command of the checkout and resolves with the document that it prints. */
type RunCommand = (args: readonly string[]) => Promise<unknown>;

/** The partner that registers in copies of a checkout's database. */
export interface Caller {
  eventId: number;
  fixture(db: Database): RunFixture;
}

/** Migrates the database and creates a partner with a key and an event, all by the checkout's own command. */
export async function createCheckoutDatabase(run: RunCommand): Promise<Caller> {
  await run(['migrate']);
  const partner = (await run(['partner', 'create', 'Bench'])) as { id: number };
  const event = (await run(['event', 'create', 'Gala', '--prefix', 'GALA'])) as { id: number; ref: string };
  await run(['event', 'grant', String(event.id), String(partner.id)]);
  const { secretKey } = (await run(['key', 'issue', String(partner.id)])) as { secretKey: string };
  return {
    eventId: event.id,
    fixture: (db) => ({
      secretKey,
      eventRef: event.ref,
      addTicket: ({ capacity }) => addTicket(db, event.id, capacity),
      addEvents: (count, capacity) => createEvents(db, [partner.id], count, capacity),
    }),
  };
}

// Without the command, which takes a second to start: every run needs new tickets. Without a row of ticket_prices: an
// older checkout has no such table, and no run reads prices.
async function addTicket(db: Database, eventId: number, capacity: number): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into tickets (event_id, title, capacity, last_modified_by)
    values (${eventId}, 'Standing', ${capacity}, 'bench')
    returning id`.execute(db);
  return rows[0]!.id;
}
