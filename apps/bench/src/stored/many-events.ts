import { randomBytes } from 'node:crypto';
import type { Database } from '@floodgate/database';
import { createPartner, issueKey } from '@floodgate/partners';
import type { RequestShape } from '@floodgate/rehearsal/load/load';
import { createFixture } from '@floodgate/test/harness/fixture.ts';
import { sql } from 'kysely';
import type { RunFixture } from '../contenders/contender.ts';
import { registrationOf, ROOMY } from '../rates/workloads.ts';

/** An event with a ticket. */
export interface StoredEvent {
  id: number;
  eventRef: string;
  shardId: number;
  ticketId: number;
}

export interface ManyEvents {
  events: StoredEvent[];
  partners: { id: number; secretKey: string }[];
  /** One request for each event and partner. Adjacent requests differ in both. */
  requests: RequestShape[];
}

/** Creates events with tickets that do not sell out, and partners with a grant for each event. */
export async function createManyEvents(
  db: Database,
  { events: count, partners: partnerCount }: { events: number; partners: number },
): Promise<ManyEvents> {
  const partners: ManyEvents['partners'] = [];
  for (let number = 0; number < partnerCount; number += 1) {
    const { id } = await createPartner(db, `partner ${randomBytes(6).toString('hex')}`);
    partners.push({ id, secretKey: (await issueKey(db, id)).secretKey });
  }
  const partnerIds = partners.map(({ id }) => id);
  const events = await createEvents(db, partnerIds, count, ROOMY);
  const rounds = partners.map((_, round) =>
    events.map(({ eventRef, ticketId }, index) => {
      const { secretKey } = partners[(index + round) % partners.length]!;
      return registrationOf({ secretKey, eventRef }, ticketId);
    }),
  );
  return { events, partners, requests: rounds.flat() };
}

/**
 * Creates events for partners, evenly in all shards, each with a ticket. The statements use only columns that
 * older checkouts also have, and one distributed table each, for Citus.
 */
export async function createEvents(
  db: Database,
  partnerIds: readonly number[],
  count: number,
  capacity: number,
): Promise<StoredEvent[]> {
  const shards = await db.selectFrom('shards').select('id').orderBy('id').execute();
  const { rows } = await sql<Omit<StoredEvent, 'ticketId'>>`
    insert into events (name, pass_prefix, shard_id)
    select 'Event ' || n, 'EVENT', (${shards.map(({ id }) => id)}::integer[])[n % ${shards.length}::integer + 1]
    from generate_series(1, ${count}::integer) n
    returning id, ref as "eventRef", shard_id as "shardId"`.execute(db);
  const ids = rows.map(({ id }) => id);
  await sql`
    insert into event_grants (partner_id, event_id)
    select partner, event
    from unnest(${partnerIds}::integer[]) partner cross join unnest(${ids}::integer[]) event`.execute(db);
  const tickets = await sql<{ id: number; eventId: number }>`
    insert into tickets (shard_id, event_id, title, capacity, last_modified_by)
    select shard_id, event_id, 'Standing', ${capacity}::integer, 'bench'
    from unnest(${rows.map(({ shardId }) => shardId)}::integer[], ${ids}::integer[]) as event (shard_id, event_id)
    returning id, event_id as "eventId"`.execute(db);
  await storePrices(db, ids);
  const ticketIds = new Map(tickets.rows.map(({ id, eventId }) => [eventId, id]));
  // Autovacuum does this within a minute. Before, Postgres scans all grants of a partner for each event.
  await sql`analyze events, event_grants, tickets`.execute(db);
  return rows.map((event) => ({ ...event, ticketId: ticketIds.get(event.id)! }));
}

/** Gives the tickets of these events the price 0, without which the books do not balance. */
async function storePrices(db: Database, eventIds: readonly number[]) {
  const { rows } = await sql<{
    known: boolean;
  }>`select to_regclass('ticket_prices') is not null as known`.execute(db);
  // The database of an older checkout has no prices.
  if (!rows[0]!.known) return;
  await sql`
    insert into ticket_prices (shard_id, ticket_id, valid_from, price)
    select shard_id, id, '-infinity', price from tickets
    where event_id = any(${eventIds}::integer[])`.execute(db);
}

/** Creates a partner with an event. */
export async function createRunFixture(db: Database): Promise<RunFixture> {
  const fixture = await createFixture(db);
  return {
    ...fixture,
    addEvents: (count, capacity) => createEvents(db, [fixture.partnerId], count, capacity),
  };
}
