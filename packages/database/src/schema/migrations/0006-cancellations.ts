import { sql, type Kysely } from 'kysely';
import { PLAIN } from '../engines.ts';
import { INSERT_LISTS } from '../segments.ts';

/** Gives the seats of the registrations `due`, with tickets `due_tickets`, back, and tells of it. Whoever is cancelled already stays so. */
const RELEASE = `
  -- In id order, as batches lock them.
  perform from tickets where shard_id = shard and id = any(due_tickets) order by id for no key update;
  -- Somebody else may have been faster.
  for entry in
    update registrations set cancelled_at = now()
    where shard_id = shard and serial = any(due) and cancelled_at is null and (not is_expiry or held_until <= now())
    returning serial, event_id, partner_id, ticket_id, batch_id
  loop
    serials := serials || entry.serial;
    events := events || entry.event_id;
    partners := partners || entry.partner_id;
    tickets_of := tickets_of || entry.ticket_id;
    batches_of := batches_of || entry.batch_id;
  end loop;
  if serials is not null then
    select last_offset into head from journal_heads where shard_id = shard for update;
    -- What is not finalized yet, or will be once more, has to read who is left.
    update batches set event_id = null, events = null
    where shard_id = shard and id = any(batches_of) and (journal_offset is null or state = 'failed');
    ${PLAIN.run(INSERT_LISTS)};
    update journal_heads set last_offset = head + cardinality(serials) where shard_id = shard;

    for entry in
      update tickets set taken = taken - freed.seats
      from (select ticket, count(*)::integer as seats from unnest(tickets_of) as ticket group by ticket) freed
      where shard_id = shard and id = freed.ticket
      returning id, event_id, taken + freed.seats = capacity as was_sold_out
    loop
      if entry.was_sold_out then
        perform tell_of_ticket(shard, entry.event_id, entry.id, 'reopened');
      end if;
    end loop;
  end if;`;

/** What that works with. */
const RELEASED = `
  kind constant text := 'cancelled';
  due bigint[];
  due_tickets integer[];
  -- By registration that is cancelled now.
  serials bigint[];
  events integer[];
  partners integer[];
  tickets_of integer[];
  batches_of uuid[];
  head bigint;
  entry record;`;

/** The registrations that are asked for, with `position`: each by its key (offset 0). */
const WANTED = `
  unnest(wanted, wanted_partners, wanted_events, wanted_codes) with ordinality
    as input (serial, partner_id, event_id, pass_code, position)
  cross join lateral (
    select serial, ticket_id, cancelled_at, held_until from registrations
    where shard_id = shard and serial = input.serial and partner_id = input.partner_id
      and event_id = input.event_id and pass_code = input.pass_code
    offset 0
  ) r`;

/**
 * Cancellations, and seats that are held for a while. Their functions lock in the order of all others: tickets, registrations,
 * the journal's head, batches. They are the owner's: whoever calls them can change what it has the pass code of, and write
 * nothing else into the journal. Written for plain Postgres: on a cluster an operator's cancellation is part of a longer
 * transaction, and they are few.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // One by one, and by name: what Citus has spread already takes them only so.
  for (const change of [
    'drop constraint events_duplicate_policy_check',
    `add constraint events_duplicate_policy_check check (duplicate_policy in ('allow', 'reject', 'return_existing'))`,
    `add duplicate_scope text not null default 'event'`,
    `add constraint events_duplicate_scope_check check (duplicate_scope in ('event', 'ticket'))`,
  ])
    await sql`alter table events ${sql.raw(change)}`.execute(db);
  // Null: registrations can be cancelled at any time.
  await sql`alter table events add cancel_until timestamptz`.execute(db);

  // By position: 'cancelled', also where it was so before, 'too-late', or null where there is no such registration.
  await sql`
    create function cancel_registrations(
      shard integer, lock_within_ms integer,
      wanted bigint[], wanted_partners integer[], wanted_events integer[], wanted_codes bigint[], deadlines timestamptz[]
    ) returns text[] language plpgsql security definer set search_path from current
    set enable_seqscan = off
    as $$
    #variable_conflict use_column
    declare
      is_expiry constant boolean := false;
      outcomes text[] := array_fill(null::text, array[cardinality(wanted)]);
      ${sql.raw(RELEASED)}
    begin
      perform set_config('lock_timeout', lock_within_ms::text, true);
      for entry in
        select position, r.serial, ticket_id, cancelled_at is not null as is_cancelled,
          coalesce(now() >= deadlines[position], false) as is_late
        from ${sql.raw(WANTED)}
      loop
        outcomes[entry.position] := case when entry.is_cancelled or not entry.is_late then kind else 'too-late' end;
        if not (entry.is_cancelled or entry.is_late) then
          due := due || entry.serial;
          due_tickets := due_tickets || entry.ticket_id;
        end if;
      end loop;
      if due is not null then
        ${sql.raw(RELEASE)}
      end if;
      return outcomes;
    end $$`.execute(db);

  // Cancels up to so many registrations whose time is over, the longest first. Returns how many it has cancelled.
  await sql`
    create function expire_holds(shard integer, most integer) returns integer
    language plpgsql security definer set search_path from current
    set enable_seqscan = off
    as $$
    #variable_conflict use_column
    declare
      is_expiry constant boolean := true;
      ${sql.raw(RELEASED)}
    begin
      perform set_config('lock_timeout', '5s', true);
      select array_agg(serial), array_agg(ticket_id) into due, due_tickets
      from (
        select serial, ticket_id from registrations
        where shard_id = shard and held_until <= now() and cancelled_at is null
        order by held_until limit most
      ) overdue;
      if due is not null then
        ${sql.raw(RELEASE)}
      end if;
      return coalesce(cardinality(serials), 0);
    end $$`.execute(db);

  // By position: 'confirmed', also where it was not held, 'too-late', or null where there is no such registration. What is not
  // finalized yet is told of by its finalization.
  await sql`
    create function confirm_registrations(
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
      -- By registration that is told of now.
      serials bigint[];
      events integer[];
      partners integer[];
      batches_of uuid[];
      head bigint;
      entry record;
    begin
      perform set_config('lock_timeout', lock_within_ms::text, true);
      for entry in
        select position, r.serial, cancelled_at, held_until from ${sql.raw(WANTED)}
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

      for entry in
        update registrations set held_until = null
        where shard_id = shard and serial = any(due) and cancelled_at is null
        returning serial, batch_id
      loop
        kept := kept || entry.serial;
        batches_of := batches_of || entry.batch_id;
      end loop;
      -- Cancelled by somebody else in this moment.
      for entry in
        select position from unnest(wanted) with ordinality as asked (serial, position)
        where serial = any(due) and not serial = any(coalesce(kept, '{}'))
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
