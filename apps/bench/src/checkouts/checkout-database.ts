import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import type { RunFixture } from '../contenders/contender.ts';

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
      addEvents: (count, capacity) => addEvents(db, partner.id, count, capacity),
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

async function addEvents(db: Database, partnerId: number, count: number, capacity: number) {
  const { rows } = await sql<{ eventRef: string; ticketId: number }>`
    with event as (
      insert into events (name, pass_prefix)
      select 'Event ' || n, 'EVENT' from generate_series(1, ${count}::integer) n
      returning id, ref
    ), granted as (
      insert into event_grants (partner_id, event_id) select ${partnerId}::integer, id from event
    ), ticket as (
      insert into tickets (event_id, title, capacity, last_modified_by)
      select id, 'Standing', ${capacity}::integer, 'bench' from event
      returning id, event_id
    )
    select event.ref as "eventRef", ticket.id as "ticketId"
    from event join ticket on ticket.event_id = event.id`.execute(db);
  // Autovacuum does this within a minute. Before, Postgres scans all grants of a partner for each event.
  await sql`analyze`.execute(db);
  return rows;
}
