-- Confirms held registrations: they are held until 'infinity'. Records the changes for finalize_batches. Returns by position:
-- 'confirmed' (also if it was not held), 'too-late', or null if there is no such registration. Runs as the owner, as
-- cancel_registrations does.
create or replace function confirm_registrations(
  shard integer, lock_within_ms integer,
  wanted bigint[], wanted_partners integer[], wanted_events integer[], wanted_codes bigint[]
) returns text[] language plpgsql security definer set search_path from current
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  outcomes text[] := array_fill(null::text, array[cardinality(wanted)]);
  due bigint[];
  cancelled bigint[];
  -- By registration that this call confirms.
  confirmed bigint[];
  events integer[];
  partners integer[];
  batches_of uuid[];
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
      when entry.cancelled_at is not null or entry.held_until <= now() then 'too-late' else 'confirmed'
    end;
    if entry.cancelled_at is null and entry.held_until > now() and entry.held_until < 'infinity' then
      due := due || entry.serial;
    end if;
  end loop;
  if due is null then
    return outcomes;
  end if;

  -- Another transaction may have confirmed or cancelled a row since it was read. After the wait for that row's lock Postgres
  -- checks this condition again, so only one of several callers changes the row, and publishes it.
  for entry in
    update registrations set held_until = 'infinity'
    where shard_id = shard and serial = any(due) and cancelled_at is null and held_until < 'infinity'
    returning serial, event_id, partner_id, batch_id
  loop
    confirmed := confirmed || entry.serial;
    events := events || entry.event_id;
    partners := partners || entry.partner_id;
    batches_of := batches_of || entry.batch_id;
  end loop;
  insert into changes (shard_id, kind, event_id, partner_id, batch_id, serials)
  select shard, 'confirmed', event_id, partner_id, batch_id, array_agg(serial)
  from unnest(events, partners, batches_of, confirmed) as change (event_id, partner_id, batch_id, serial)
  group by event_id, partner_id, batch_id;

  select array_agg(serial) into cancelled from registrations
  where shard_id = shard and serial = any(due) and cancelled_at is not null;
  for entry in
    select position from unnest(wanted) with ordinality as asked (serial, position) where serial = any(cancelled)
  loop
    outcomes[entry.position] := 'too-late';
  end loop;
  return outcomes;
end $$;
