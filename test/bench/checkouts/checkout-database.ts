import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import type { RunFixture } from '../contenders/contender.ts';

/** Runs a command of the checkout and resolves with the document that it prints. */
type RunCommand = (args: readonly string[]) => Promise<unknown>;

/** Who registers in the databases that are copied from the one of a checkout. */
export interface Caller {
  fixture(db: Database): RunFixture;
}

/** Brings the schema up to date and makes a partner with a key and an event, all by the checkout's own command. */
export async function createCheckoutDatabase(run: RunCommand): Promise<Caller> {
  await run(['migrate']);
  const partner = (await run(['partner', 'create', 'Bench'])) as { id: number };
  const event = (await run(['event', 'create', 'Gala', '--prefix', 'GALA'])) as { id: number; ref: string };
  await run(['event', 'grant', String(event.id), String(partner.id)]);
  const { secretKey } = (await run(['key', 'issue', String(partner.id)])) as { secretKey: string };
  return {
    fixture: (db) => ({
      secretKey,
      eventRef: event.ref,
      addTicket: ({ capacity }) => addTicket(db, event.id, capacity),
    }),
  };
}

// Not by the command: it takes a second to start, and every run needs tickets of its own.
async function addTicket(db: Database, eventId: number, capacity: number): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into tickets (event_id, title, capacity, last_modified_by)
    values (${eventId}, 'Standing', ${capacity}, 'bench')
    returning id`.execute(db);
  return rows[0]!.id;
}
