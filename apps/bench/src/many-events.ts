import type { Database } from '@floodgate/database';
import { issueKey } from '@floodgate/partners';
import { storeFirstPrice } from '@floodgate/tickets/prices';
import { sql } from 'kysely';
import { randomBytes } from 'node:crypto';
import { attendee } from '@floodgate/test/harness/partner-client.ts';
import type { RequestShape } from '@floodgate/rehearsal/load/load';
import { ROOMY } from './workloads.ts';

/** An event with a ticket that does not sell out. */
export interface StoredEvent {
  id: number;
  ref: string;
  shardId: number;
  ticketId: number;
}

export interface ManyEvents {
  events: StoredEvent[];
  partners: { id: number; secretKey: string }[];
  /** One request for each event and partner. Adjacent requests differ in both. */
  requests: RequestShape[];
}

/** Creates events, distributed evenly over the shards, and partners with a grant for each event. */
export async function createManyEvents(
  db: Database,
  { events: count, partners: partnerCount }: { events: number; partners: number },
): Promise<ManyEvents> {
  const events = await createEvents(db, count);
  const partners = await createPartners(db, partnerCount);
  await sql`
    insert into event_grants (partner_id, event_id)
    select partner, event
    from unnest(${partners.map(({ id }) => id)}::integer[]) partner
    cross join unnest(${events.map(({ id }) => id)}::integer[]) event`.execute(db);
  // Autovacuum does this within a minute. Before, Postgres scans all grants of a partner for each event.
  await sql`analyze`.execute(db);
  const rounds = partners.map((_, round) =>
    events.map((event, index) => requestFor(partners[(index + round) % partners.length]!, event)),
  );
  return { events, partners, requests: rounds.flat() };
}

async function createEvents(db: Database, count: number): Promise<StoredEvent[]> {
  const shards = await db.selectFrom('shards').select('id').orderBy('id').execute();
  const { rows } = await sql<Omit<StoredEvent, 'ticketId'>>`
    insert into events (name, pass_prefix, shard_id)
    select 'Event ' || n, 'EVENT', (${shards.map(({ id }) => id)}::integer[])[n % ${shards.length}::integer + 1]
    from generate_series(1, ${count}::integer) n
    returning id, ref, shard_id as "shardId"`.execute(db);
  const stored: StoredEvent[] = [];
  for (const event of rows) stored.push({ ...event, ticketId: await createTicket(db, event) });
  return stored;
}

async function createTicket(db: Database, { id, shardId }: { id: number; shardId: number }): Promise<number> {
  const ticket = {
    shard_id: shardId,
    event_id: id,
    title: 'Standing',
    capacity: ROOMY,
    last_modified_by: 'bench',
  };
  const created = await db.insertInto('tickets').values(ticket).returning('id').executeTakeFirstOrThrow();
  await storeFirstPrice(db, shardId, created.id, 0);
  return created.id;
}

async function createPartners(db: Database, count: number): Promise<ManyEvents['partners']> {
  const partners: ManyEvents['partners'] = [];
  for (let number = 0; number < count; number += 1) {
    const name = `partner ${randomBytes(6).toString('hex')}`;
    const { id } = await db.insertInto('partners').values({ name }).returning('id').executeTakeFirstOrThrow();
    partners.push({ id, secretKey: (await issueKey(db, id)).secretKey });
  }
  return partners;
}

/** Returns a partner's request for the event's ticket. */
function requestFor({ secretKey }: ManyEvents['partners'][number], event: StoredEvent): RequestShape {
  return {
    method: 'POST',
    path: '/api/v1/events/register',
    headers: { 'x-secret-key': secretKey, 'x-event-ref': event.ref },
    body: JSON.stringify(attendee(event.ticketId)),
  };
}
