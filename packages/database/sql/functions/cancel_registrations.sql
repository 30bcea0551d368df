-- Cancels registrations. Returns by position: 'cancelled' (also if it was cancelled before), 'too-late', or null if there is no
-- such registration. Runs as the owner: callers can change only registrations whose pass code they have. Locks in the order of
-- all functions: tickets, registrations.
create or replace function cancel_registrations(
  shard integer, lock_within_ms integer,
  wanted bigint[], wanted_partners integer[], wanted_events integer[], wanted_codes bigint[], deadlines timestamptz[]
) returns text[] language plpgsql security definer set search_path from current
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  outcomes text[] := array_fill(null::text, array[cardinality(wanted)]);
  due bigint[];
  due_tickets integer[];
  entry record;
begin
  perform set_config('lock_timeout', lock_within_ms::text, true);
  for entry in
    select position, r.serial, ticket_id, cancelled_at is not null as is_cancelled,
      coalesce(now() >= deadlines[position], false) as is_late
    from unnest(wanted, wanted_partners, wanted_events, wanted_codes) with ordinality
      as input (serial, partner_id, event_id, pass_code, position)
    cross join lateral (
      select serial, ticket_id, cancelled_at from registrations
      where shard_id = shard and serial = input.serial and partner_id = input.partner_id
        and event_id = input.event_id and pass_code = input.pass_code
      offset 0
    ) r
  loop
    outcomes[entry.position] := case when entry.is_cancelled or not entry.is_late then 'cancelled' else 'too-late' end;
    if not (entry.is_cancelled or entry.is_late) then
      due := due || entry.serial;
      due_tickets := due_tickets || entry.ticket_id;
    end if;
  end loop;
  if due is not null then
    perform release_registrations(shard, due, due_tickets, false);
  end if;
  return outcomes;
end $$;
