import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import type { Contender } from './contenders/contender.ts';
import { floodgate } from './contenders/floodgate.ts';

export const GROWN = '10 million stored';
export const MANY_EVENTS = '1,000 events';

const REGISTRATIONS = 10_000_000;
const PER_STATEMENT = 500_000;
const PER_BATCH = 500;
const EVENTS = 1_000;

/** Floodgate on databases with a history. */
export const grownContenders: readonly Contender[] = [
  {
    ...floodgate,
    name: GROWN,
    description: 'Floodgate with 10 million finalized registrations of earlier events stored',
    database: { name: 'grown', fill: storeRegistrations },
  },
  {
    ...floodgate,
    name: MANY_EVENTS,
    description: 'Floodgate with 1,000 events stored, each with a partner, a key, a grant and 10 tickets',
    database: { name: 'many_events', fill: storeEvents },
  },
];

async function storeRegistrations(db: Database): Promise<void> {
  const { rows } = await sql<{ eventId: number; ticketId: number }>`
    with event as (
      insert into events (name, pass_prefix) values ('Earlier', 'EARLY') returning id
    )
    insert into tickets (event_id, title, capacity, taken, last_modified_by)
    select id, 'Standing', ${REGISTRATIONS}::integer, ${REGISTRATIONS}::integer, 'bench' from event
    returning event_id as "eventId", id as "ticketId"`.execute(db);
  const { eventId, ticketId } = rows[0]!;
  await storePrices(db);
  for (let first = 0; first < REGISTRATIONS; first += PER_STATEMENT) {
    await sql`
      with chosen as materialized (
        select batch, gen_random_uuid() as id
        from generate_series(1, ${PER_STATEMENT / PER_BATCH}::integer) batch
      ),
      registered as (
        insert into registrations (
          batch_id, position, ticket_id, event_id, partner_id, pass_code,
          full_name, email_address, phone_number, gender, table_or_seat, extra_data_1, extra_data_2
        )
        select id, position, ${ticketId}::integer, ${eventId}::integer, 1, 1000000000 + position,
          'Jane Doe', 'jane.doe@example.com', '+1 (555) 010-0199', 'Female', 'Table 4', 'vegetarian', ''
        from chosen cross join generate_series(1, ${PER_BATCH}::integer) position
        order by batch, position
        returning batch_id, serial
      )
      insert into batches (id, state, size, first_serial, last_serial, finished_at, relay_at, journal_offset)
      select batch_id, 'confirmed', count(*), min(serial), max(serial), now(), now(), 0
      from registered group by batch_id`.execute(db);
  }
  await sql`vacuum analyze`.execute(db);
}

async function storeEvents(db: Database): Promise<void> {
  await sql`
    with partner as (
      insert into partners (name) select 'partner ' || n from generate_series(1, ${EVENTS}::integer) n returning id
    ),
    key as (
      insert into secret_keys (key_id, partner_id, secret_hash)
      select 'bench' || id, id, sha256(convert_to('bench' || id, 'UTF8')) from partner
    ),
    event as (
      insert into events (name, pass_prefix) select 'Event ' || id, 'EVENT' from partner returning id
    ),
    granted as (
      insert into event_grants (partner_id, event_id)
      select p.id, e.id
      from (select id, row_number() over (order by id) as n from partner) p
      join (select id, row_number() over (order by id) as n from event) e using (n)
    )
    insert into tickets (event_id, title, capacity, last_modified_by)
    select id, 'Standing ' || n, 1000, 'bench' from event cross join generate_series(1, 10) n`.execute(db);
  await storePrices(db);
  await sql`vacuum analyze`.execute(db);
}

/** As a command does that creates a ticket. */
const storePrices = (db: Database) =>
  sql`
    insert into ticket_prices (shard_id, ticket_id, valid_from, price)
    select shard_id, id, '-infinity', price from tickets
    on conflict do nothing`.execute(db);
