-- Cancels registrations, or confirms held ones by a hold until 'infinity'. "change" is 'cancelled' or
-- 'confirmed'. Returns, by position, the change (also if there was nothing to change), 'too-late', or null if
-- there is no such registration. A cancellation has two more outcomes. 'replaced': another attendee has the
-- seat now, so it stays taken. 'admitted': the seat has let in a person, so only an operator can cancel it,
-- unless the operator chose to leave such seats ("leave_admitted"). Callers of the previous release do not
-- know these: their "by_operator" is null, and the outcome is 'too-late'.
--
-- Runs as the owner: callers can change only registrations whose pass code they have. Lock order of all
-- functions: tickets, then registrations.
create or replace function change_registrations(
  shard integer, lock_within_ms integer, change text,
  wanted bigint[], wanted_partners integer[], wanted_events integer[], wanted_codes bigint[], deadlines timestamptz[],
  hold_percent integer default null, by_operator boolean default null, leave_admitted boolean default null,
  together boolean default false
) returns text[] language plpgsql security definer set search_path from current
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  is_confirmation constant boolean := change = 'confirmed';
  outcomes text[];
  due bigint[];
  due_tickets integer[];
  confirmed bigint[];
  -- Registrations that stay, because their seat has let in a person.
  admitted bigint[] := '{}';
begin
  perform set_config('lock_timeout', lock_within_ms::text, true);
  select array_agg(case when is_done or not is_late then change when is_late then 'too-late' end order by position),
    array_agg(r.serial) filter (where not (is_done or is_late)),
    array_agg(ticket_id) filter (where not (is_done or is_late))
  from unnest(wanted, wanted_partners, wanted_events, wanted_codes, deadlines) with ordinality
    as input (serial, partner_id, event_id, pass_code, deadline, position)
  left join lateral (
    select serial, ticket_id,
      case when is_confirmation then cancelled_at is null and coalesce(held_until = 'infinity', true)
        else cancelled_at is not null end as is_done,
      -- The seat of a basket needs an attendee: see change_holds.
      case when is_confirmation then cancelled_at is not null or held_until <= now() or full_name is null
        else coalesce(now() >= deadline, false) end as is_late
    from registrations
    where shard_id = shard and serial = input.serial and partner_id = input.partner_id
      and event_id = input.event_id and pass_code = input.pass_code
    offset 0
  ) r on true
  into outcomes, due, due_tickets;
  if not is_confirmation then
    if due is not null then
      perform from tickets where shard_id = shard and id = any(due_tickets) order by id for no key update;
      perform lock_seats(shard, due);
      if coalesce(leave_admitted, by_operator is not true) then
        admitted := array(
          select serial from registrations r
          where shard_id = shard and serial = any(due) and exists (
            select from admissions a
            where a.shard_id = shard and a.seat = coalesce(r.seat, r.serial) and a.undone_at is null
          )
        );
      end if;
      if together and (
        admitted <> '{}'
        or exists (select from unnest(outcomes) as outcome where outcome is distinct from change)
        or exists (
          select from registrations where shard_id = shard and serial = any(wanted) and replaced_by is not null
        )
      ) then
        due := '{}';
      end if;
      perform release_registrations(
        shard, array(select unnest(due) except select unnest(admitted)), due_tickets, change, hold_percent,
        by_operator);
    end if;
    -- Read after the cancellation, because another transaction may have changed the attendee meanwhile.
    return array(
      select case
        when outcomes[position] is distinct from change or (replaced_by is null and input.serial <> all(admitted))
          then outcomes[position]
        when by_operator is null then 'too-late'
        when replaced_by is not null then 'replaced'
        else 'admitted' end
      from unnest(wanted) with ordinality as input (serial, position)
      left join lateral (
        select replaced_by from registrations where shard_id = shard and serial = input.serial offset 0
      ) r on true
      order by position
    );
  elsif due is null then
    return outcomes;
  end if;

  -- Another transaction may have confirmed or cancelled a row since it was read. After the wait for the row
  -- lock, Postgres checks this condition again. So only one of several callers changes the row and publishes
  -- the change.
  with changed as (
    update registrations set held_until = 'infinity'
    where shard_id = shard and serial = any(due) and cancelled_at is null and held_until < 'infinity'
    returning serial
  )
  select array_agg(serial) from changed into confirmed;
  perform record_changes(shard, change, confirmed);
  return array(
    select case
      when cancelled_at is not null and outcomes[position] = change then 'too-late' else outcomes[position]
    end
    from unnest(wanted) with ordinality as input (serial, position)
    left join lateral (
      select cancelled_at from registrations where shard_id = shard and serial = input.serial offset 0
    ) r on true
    order by position
  );
end $$;
