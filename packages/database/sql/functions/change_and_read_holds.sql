-- Changes holds: 'confirmed' stores the attendees and keeps the seats, 'released' frees seats, 'extended'
-- moves the expiry. "seats" are serials, each with the index of its hold. A hold changes with all of these
-- seats, or not at all. With "together", the same holds for all holds: if one outcome is not the change, nothing
-- has changed. Returns json:
--
--   outcomes   by position of the hold: the change (also if it was made already), 'too-late' if a seat is not held any
--              more, 'duplicate' if an attendee has a seat already, or null if a seat is not part of the hold
--   holds      by position: all seats of the hold as they are then, see describe_holds
--
-- Attendees are by position of their seat. A hold ends "limit_seconds" after it was made, however often it is
-- extended. It is not extended beyond the end of the sale, and not at all while one of its tickets is off
-- sale. Runs as the owner, because the API cannot read attendees. Lock order of all functions: tickets, then
-- registrations.
create or replace function change_and_read_holds(
  shard integer, lock_within_ms integer, change text,
  hold_ids uuid[], extended_seconds integer[], limit_seconds integer,
  holds integer[], seats bigint[], digests uuid[], full_names text[], email_addresses text[], phone_numbers text[],
  genders text[], tables_or_seats text[], extras_1 text[], extras_2 text[],
  hold_percent integer, together boolean default false
) returns json language plpgsql security definer set search_path from current
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  outcomes text[];
  -- The holds change together, and one cannot change.
  is_refused boolean;
  due bigint[];
  offers bigint[];
  due_tickets integer[];
  -- By position of the seat.
  expiries timestamptz[];
  described json;
begin
  perform set_config('lock_timeout', lock_within_ms::text, true);
  if change = 'released' then
    due_tickets := array(select distinct ticket_id from registrations where shard_id = shard and serial = any(seats));
    perform from tickets where shard_id = shard and id = any(due_tickets) order by id for no key update;
  end if;
  perform from registrations where shard_id = shard and serial = any(seats) order by serial for no key update;

  -- The rows are locked, so their states are final.
  outcomes := array(
    select case
      when bool_or(hold_id is distinct from hold_ids[hold]) then null
      -- Null counts as false: "held_until" of a confirmed seat is null after its finalization.
      when bool_and(is_done is true) then change
      -- A list can name more seats than that of an earlier call.
      when change = 'released' and bool_and((is_done or is_held) is true) then change
      when bool_and(is_held is true) then case when bool_or(is_taken) then 'duplicate' else change end
      else 'too-late'
    end
    from (
      select hold, r.hold_id, r.cancelled_at is null and r.held_until > now() and r.held_until < 'infinity' as is_held,
        case change
          when 'released' then r.cancelled_at is not null or r.held_until <= now()
          -- Null: confirmed before its batch was finalized.
          when 'confirmed' then r.cancelled_at is null and coalesce(r.held_until, 'infinity') = 'infinity'
            and (r.full_name, r.email_address) is not distinct from (input.full_name, input.email_address)
          else false
        end as is_done,
        digest is not null and (
          row_number() over (partition by r.event_id, digest) > 1
          or exists (
            select from registrations taken
            where taken.shard_id = shard and taken.event_id = r.event_id and taken.attendee_digest = digest
              and taken.cancelled_at is null and taken.serial <> r.serial
          )
        ) as is_taken
      from unnest(holds, seats, digests, full_names, email_addresses)
        as input (hold, serial, digest, full_name, email_address)
      left join lateral (
        select * from registrations where shard_id = shard and serial = input.serial offset 0
      ) r on true
    ) seat
    group by hold order by hold
  );

  is_refused := together
    and exists (select from unnest(outcomes) as outcome where outcome is distinct from change);
  due := array(
    select r.serial from unnest(holds, seats) as input (hold, serial)
    cross join lateral (
      select serial, held_until, cancelled_at from registrations
      where shard_id = shard and serial = input.serial offset 0
    ) r
    where not is_refused and outcomes[hold] = change
      and r.cancelled_at is null and r.held_until > now() and r.held_until < 'infinity'
  );
  if cardinality(due) = 0 then
    -- All changes were made already or are refused.
    null;
  elsif change = 'released' then
    perform release_registrations(shard, due, due_tickets, 'left', hold_percent);
  elsif change = 'extended' then
    -- Computed before: in an update of a cluster, now() cannot meet a column.
    expiries := array(
      select greatest(r.held_until, min(
        least(now() + make_interval(secs => extended_seconds[hold]), r.latest, t.until)
      ) over (partition by hold))
      from unnest(holds, seats) with ordinality as input (hold, serial, position)
      cross join lateral (
        -- An offer of a waiting list cannot be extended.
        select held_until, coalesce(
          (select expires_at from waiting_entries e where e.shard_id = shard and e.id = r.hold_id),
          reserved_at + make_interval(secs => limit_seconds)
        ) as latest, ticket_id
        from registrations r where shard_id = shard and serial = input.serial offset 0
      ) r
      cross join lateral (
        select case when active then sale_ends_at else now() end as until from tickets
        where shard_id = shard and id = r.ticket_id offset 0
      ) t
      order by position
    );
    -- A nested loop would read all seats of the call for each of them. (Citus crashes on an array that is
    -- read by position.)
    perform set_config('enable_nestloop', 'off', true);
    update registrations r set held_until = input.expiry
    from unnest(seats, expiries) as input (serial, expiry)
    where r.shard_id = shard and r.serial = input.serial and r.serial = any(due);
    perform set_config('enable_nestloop', 'on', true);
  else
    -- As above.
    perform set_config('enable_nestloop', 'off', true);
    update registrations r
    set held_until = 'infinity', attendee_digest = input.digest, full_name = input.full_name,
      email_address = input.email_address, phone_number = input.phone_number, gender = input.gender,
      table_or_seat = input.table_or_seat, extra_data_1 = input.extra_data_1, extra_data_2 = input.extra_data_2
    from unnest(
      seats, digests, full_names, email_addresses, phone_numbers, genders, tables_or_seats, extras_1, extras_2
    ) as input (
      serial, digest, full_name, email_address, phone_number, gender, table_or_seat, extra_data_1, extra_data_2
    )
    where r.shard_id = shard and r.serial = input.serial and r.serial = any(due);
    perform set_config('enable_nestloop', 'on', true);
    perform record_changes(shard, change, due);
    -- If a hold was an offer of a waiting list.
    offers := array(
      select e.serial from unnest(hold_ids, outcomes) as input (id, outcome)
      cross join lateral (
        select serial from waiting_entries where shard_id = shard and id = input.id and state = 'offered' offset 0
      ) e
      where outcome = change
    );
    if offers <> '{}' then
      perform change_waiting(shard, change, offers);
    end if;
  end if;
  described := describe_holds(shard, hold_ids, case change when 'confirmed' then due else '{}' end);
  return json_build_object('outcomes', outcomes, 'holds', described);
end $$;
