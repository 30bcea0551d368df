import type { Database } from '@floodgate/database';
import { sql } from 'kysely';
import type { ManyEvents } from './many-events.ts';

const PER_STATEMENT = 500_000;
const PER_BATCH = 500;
/** Registrations that commit in 100 ms at 10,000/s: one job, and so one finalization. */
const PER_FINALIZATION = 1_000;

/**
 * Owners of the registrations, in rotation: each goes to the next event, and after all events to the next
 * partner.
 */
export type Owners = Pick<ManyEvents, 'events' | 'partners'>;

/**
 * Stores registrations as reserve_batch and finalize_batches do: rows in the order of their serials, batches
 * of 500, and for every 1,000 a segment for each event and partner, with a list of serials if they are not
 * consecutive. Uses statements of half a million rows in place of calls.
 */
export async function storeHistory(db: Database, owners: Owners, count: number): Promise<void> {
  for (let stored = 0; stored < count; stored += PER_STATEMENT)
    await storeSome(db, owners, Math.min(PER_STATEMENT, count - stored));
  await sql`
    update tickets set taken = counted.taken
    from (select ticket_id, count(*) as taken from registrations group by ticket_id) counted
    where id = ticket_id`.execute(db);
  await sql`vacuum analyze`.execute(db);
}

async function storeSome(db: Database, { events, partners }: Owners, count: number): Promise<void> {
  const { rows } = await sql<{ base: number; head: number }>`
    select coalesce((select max(serial) from registrations where shard_id = 0), 0) as base,
      (select last_offset from journal_heads where shard_id = 0) as head`.execute(db);
  const { base, head } = rows[0]!;
  // Literals: as a parameter, each would need a cast.
  const [all, batchSize] = [sql.lit(count), sql.lit(PER_BATCH)];
  const [eventCount, partnerCount] = [sql.lit(events.length), sql.lit(partners.length)];
  const [eventIds, ticketIds] = [events.map(({ id }) => id), events.map(({ ticketId }) => ticketId)];
  const partnerIds = partners.map(({ id }) => id);
  await sql`
    with batch as materialized (
      select number, gen_random_uuid() as id
      from generate_series(0, ${sql.lit(Math.ceil(count / PER_BATCH) - 1)}) as number
    ),
    owned as materialized (
      select n, ${base}::bigint + n + 1 as serial, n / ${batchSize} as number,
        (${eventIds}::integer[])[n % ${eventCount} + 1] as event_id,
        (${ticketIds}::integer[])[n % ${eventCount} + 1] as ticket_id,
        (${partnerIds}::integer[])[n / ${eventCount} % ${partnerCount} + 1] as partner_id
      from generate_series(0, ${all} - 1) as n
    ),
    registered as (
      insert into registrations (
        serial, batch_id, position, ticket_id, event_id, partner_id, pass_code,
        full_name, email_address, phone_number, gender, table_or_seat, extra_data_1, extra_data_2
      )
      select serial, batch.id, n % ${batchSize} + 1, ticket_id, event_id, partner_id, 1000000000 + n,
        'Guest ' || md5(serial::text), md5(serial::text) || '@example.com',
        '+1 (555) 010-0199', 'Female', 'Table 4', 'vegetarian', ''
      from owned join batch using (number)
      order by n
    ),
    finalized as (
      insert into batches (id, state, size, first_serial, last_serial, finished_at, relay_at, journal_offset)
      select id, 'confirmed', least(${batchSize}, ${all} - number * ${batchSize}),
        ${base}::bigint + number * ${batchSize} + 1,
        ${base}::bigint + least(${all}, (number + 1) * ${batchSize}), now(), now(), ${head}::bigint
      from batch
    ),
    segment as (
      select n / ${sql.lit(PER_FINALIZATION)} as finalization, event_id, partner_id, count(*) as count,
        min(serial) as first, max(serial) as last, array_agg(serial order by serial) as list
      from owned group by 1, 2, 3
    )
    insert into journal_segments (
      shard_id, event_id, partner_id, last_offset, count, kind, first_serial, last_serial, serials
    )
    select 0, event_id, partner_id, ${head}::bigint + sum(count) over (order by finalization, first), count,
      'confirmed', first, last, case when last - first + 1 > count then list end
    from segment
    order by finalization, first`.execute(db);
  await sql`update journal_heads set last_offset = last_offset + ${count} where shard_id = 0`.execute(db);
  await sql`select setval('registrations_serial_seq', ${base + count}::bigint)`.execute(db);
}
