import { sql, type Kysely } from 'kysely';
import { PLAIN } from '../engines.ts';
import { createReserveBatch } from '../reserve-batch.ts';
import { INSERT_LISTS } from '../segments.ts';

/** By a table that only this service adds rows to: the functions that it calls. */
const CALLED_BY_WHO_INSERTS = {
  registrations: [
    'reserve_batch',
    'cancel_registrations',
    'confirm_registrations',
    'hold_shard',
    'shard_table',
  ],
  journal_segments: ['finalize_batches', 'lease_batches', 'expire_holds', 'hold_shard', 'shard_table'],
  webhook_attempts: ['lease_consumers', 'oldest_news', 'consumer_lags', 'webhook_delivered'],
};

export async function up(db: Kysely<unknown>): Promise<void> {
  await publishConfirmationOnce(db);
  await limitHolds(db);
  for (const [table, functions] of Object.entries(CALLED_BY_WHO_INSERTS))
    await grantToServices(db, table, functions);
}

/** A partner may hold a share of a ticket only: reserve_batch has one argument more. Two of the name would both fit older calls. */
async function limitHolds(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ signature: string }>`
    select oid::regprocedure::text as signature from pg_proc
    where proname = 'reserve_batch' and pronamespace = current_schema()::regnamespace
      and not coalesce('hold_percent' = any(proargnames), false)`.execute(db);
  for (const { signature } of rows) {
    await sql`drop function ${sql.raw(signature)}`.execute(db);
    await createReserveBatch(PLAIN).execute(db);
  }
}

/**
 * Every migration revokes the functions from PUBLIC. Until now the services have executed them by that, and they go on until the
 * operator repeats the grant.
 */
async function grantToServices(db: Kysely<unknown>, table: string, functions: string[]): Promise<void> {
  const { rows } = await sql<{ signature: string; role: string }>`
    select distinct pg_proc.oid::regprocedure::text as signature, rolname as role
    from pg_attribute cross join aclexplode(attacl) join pg_roles on pg_roles.oid = grantee, pg_proc
    where attrelid = ${table}::regclass and privilege_type = 'INSERT'
      and proname = any(${functions}) and pronamespace = current_schema()::regnamespace`.execute(db);
  for (const { signature, role } of rows)
    await sql`grant execute on function ${sql.raw(signature)} to ${sql.id(role)}`.execute(db);
}

/** A hold that several callers confirm at the same time is published once. */
async function publishConfirmationOnce(db: Kysely<unknown>): Promise<void> {
  // By position: 'confirmed', also where it was not held, 'too-late', or null where there is no such registration. The
  // finalization publishes what it has not finalized yet.
  await sql`
    create or replace function confirm_registrations(
      shard integer, lock_within_ms integer,
      wanted bigint[], wanted_partners integer[], wanted_events integer[], wanted_codes bigint[]
    ) returns text[] language plpgsql security definer set search_path from current
    set enable_seqscan = off
    as $$
    #variable_conflict use_column
    declare
      outcomes text[] := array_fill(null::text, array[cardinality(wanted)]);
      kind constant text := 'confirmed';
      due bigint[];
      kept bigint[];
      cancelled bigint[];
      -- By registration that is published now.
      serials bigint[];
      events integer[];
      partners integer[];
      batches_of uuid[];
      head bigint;
      entry record;
    begin
      perform set_config('lock_timeout', lock_within_ms::text, true);
      for entry in
        select position, r.serial, cancelled_at, held_until
        from unnest(wanted, wanted_partners, wanted_events, wanted_codes) with ordinality
          as input (serial, partner_id, event_id, pass_code, position)
        cross join lateral (
          select serial, cancelled_at, held_until from registrations
          where shard_id = shard and serial = input.serial and partner_id = input.partner_id
            and event_id = input.event_id and pass_code = input.pass_code
          offset 0
        ) r
      loop
        outcomes[entry.position] := case
          when entry.cancelled_at is not null or entry.held_until <= now() then 'too-late' else kind
        end;
        if entry.cancelled_at is null and entry.held_until > now() then
          due := due || entry.serial;
        end if;
      end loop;
      if due is null then
        return outcomes;
      end if;

      -- Another transaction may have confirmed or cancelled a row since it was read. After the wait for that row's lock
      -- Postgres checks this condition again, so that only one of several callers changes the row, and publishes it.
      for entry in
        update registrations set held_until = null
        where shard_id = shard and serial = any(due) and cancelled_at is null and held_until is not null
        returning serial, batch_id
      loop
        kept := kept || entry.serial;
        batches_of := batches_of || entry.batch_id;
      end loop;
      select array_agg(serial) into cancelled from registrations
      where shard_id = shard and serial = any(due) and cancelled_at is not null;
      for entry in
        select position from unnest(wanted) with ordinality as asked (serial, position) where serial = any(cancelled)
      loop
        outcomes[entry.position] := 'too-late';
      end loop;
      if kept is null then
        return outcomes;
      end if;

      select last_offset into head from journal_heads where shard_id = shard for update;
      select array_agg(id) into batches_of from batches
      where shard_id = shard and id = any(batches_of) and state = 'confirmed' and journal_offset is not null;
      select array_agg(serial), array_agg(event_id), array_agg(partner_id) into serials, events, partners
      from registrations
      where shard_id = shard and serial = any(kept) and batch_id = any(batches_of);
      if serials is not null then
        ${sql.raw(PLAIN.run(INSERT_LISTS))};
        update journal_heads set last_offset = head + cardinality(serials) where shard_id = shard;
      end if;
      return outcomes;
    end $$`.execute(db);
}
