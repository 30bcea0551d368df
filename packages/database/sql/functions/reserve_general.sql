-- Grants the seats of any batch: several tickets, too few seats, allocations, holds, known keys and
-- registered attendees. Counts them as taken and as held; reserve_batch, which explains the arguments, writes
-- the registrations. Locks the wanted tickets in id order. Everything else that it writes belongs to these
-- tickets. Returns
--
--   outcomes         by position; null: all are registered
--   granted          by position: the serial of the new seat, or null
--   remembered       by position: the serial to store with the idempotency key; null: those that are granted
--   replays, limits  see reserve_batch
--   expiries         by position: when the hold ends; null: the batch has no holds
--   sold_out         the tickets whose last seat is granted
create or replace function reserve_general(
  shard integer, wanted_tickets integer[], wanted_events integer[], wanted_seats integer[],
  call_firsts integer[], call_lasts integer[], call_all boolean[],
  tickets integer[], partners integer[], pass_codes bigint[], returns_existing boolean[], repeats integer[],
  held_seconds integer[], hold_ids uuid[], hold_percent integer,
  known text[], known_serials bigint[], known_codes bigint[], is_duplicate boolean[], any_time boolean,
  out outcomes text[], out granted bigint[], out remembered bigint[], out replays bigint[], out limits integer[],
  out expiries timestamptz[], out sold_out integer[]
) returns record language plpgsql
as $$
#variable_conflict use_column
declare
  size constant integer := cardinality(tickets);
  seats_suffice boolean := true;
  -- The wanted tickets: see lock_tickets.
  wanted record;
  -- By ticket and partner: the number of seats that the partner holds.
  held_tickets integer[];
  held_partners integer[];
  held_numbers integer[];
  -- See limit_partners. Null: nobody has a limit.
  limit_indexes integer[];
  limited_tickets integer[];
  limited_partners integer[];
  own_left integer[];
  caps_left integer[];
  holds_left integer[];
  hold_limits integer[];
  are_limits_kept boolean := true;
  -- By wanted ticket, and by limit: the number of granted seats.
  sold integer[];
  limited_seats integer[];
  -- By ticket of which seats are granted.
  sold_tickets integer[];
  sold_seats integer[];
  -- By position: the position whose seat an 'existing' attendee of this batch shares.
  same_as integer[];
begin
  replays := '{}';
  wanted := lock_tickets(shard, wanted_tickets, wanted_events, any_time);
  for i in 1 .. cardinality(wanted_tickets) loop
    seats_suffice := seats_suffice and coalesce(wanted.seats_left[i] - wanted.set_aside[i] >= wanted_seats[i], false);
  end loop;
  if held_seconds is not null then
    -- Their sums are inserted again below. The tickets are locked, so no other batch does the same.
    with gone as (
      delete from held_seats
      where shard_id = shard and partner_id = any(partners) and ticket_id = any(array(
        select id from unnest(wanted_tickets, wanted.seats_left) as _ (id, seats) where seats is not null
      ))
      returning ticket_id, partner_id, seats
    )
    select array_agg(ticket_id), array_agg(partner_id), array_agg(seats) from gone
    into held_tickets, held_partners, held_numbers;
  end if;
  if wanted.allocated is not null or held_seconds is not null and hold_percent is not null then
    select * from limit_partners(
      shard, wanted_tickets, wanted.allocated, wanted.capacities, hold_percent, tickets, partners, held_seconds,
      held_tickets, held_partners, held_numbers
    )
    into limit_indexes, limited_tickets, limited_partners, own_left, caps_left, holds_left, hold_limits, limited_seats,
      are_limits_kept;
  end if;

  if seats_suffice and are_limits_kept and known is null and is_duplicate is null and repeats is null then
    -- Everybody gets a seat.
    granted := array(select nextval('registrations_serial_seq') from generate_series(1, size));
    sold := wanted_seats;
  elsif known is null and is_duplicate is null and 0 = all(wanted.seats_left) then
    -- Sold out, as most batches of a launch.
    outcomes := array_fill('sold-out'::text, array[size]);
    sold := array_fill(0, array[cardinality(wanted_tickets)]);
    granted := array_fill(null::bigint, array[size]);
  else
    select * from decide_seats(
      shard, tickets, partners, call_firsts, call_lasts, call_all, returns_existing, repeats, held_seconds, known,
      is_duplicate, wanted.seats_left, wanted.set_aside, limit_indexes, own_left, caps_left, holds_left
    )
    into outcomes, same_as, sold, limited_seats;
    granted := array_fill(null::bigint, array[size]);
    remembered := granted;
    for i in 1 .. size loop
      if known[i] is null and outcomes[i] = 'registered' then
        granted[i] := nextval('registrations_serial_seq');
        remembered[i] := granted[i];
      elsif outcomes[i] = 'existing' or known[i] not in ('existing', 'key-reused') then
        if known[i] is null then
          known_serials[i] := granted[same_as[i]];
          known_codes[i] := pass_codes[same_as[i]];
        end if;
        remembered[i] := known_serials[i];
        replays := replays || array[array[i, known_serials[i], known_codes[i]]];
      end if;
    end loop;
    if 'hold-limit' = any(outcomes) then
      select array_agg(array[position, hold_limits[coalesce(limit_indexes[position], 1)]] order by position) into limits
      from unnest(outcomes) with ordinality as _ (outcome, position) where outcome = 'hold-limit';
    end if;
  end if;

  if held_seconds is not null then
    expiries := array(
      select case when held_for is not null then least(
        now() + make_interval(secs => held_for),
        min((wanted.sale_ends)[ticket]) over (partition by coalesce(hold_id::text, position::text))
      ) end
      from unnest(tickets, held_seconds, hold_ids) with ordinality as input (ticket, held_for, hold_id, position)
      order by position
    );
    insert into held_seats (shard_id, ticket_id, partner_id, seats)
    select shard, ticket, partner, sum(seats)
    from (
      select unnest(held_tickets) as ticket, unnest(held_partners) as partner, unnest(held_numbers) as seats
      union all
      select wanted_tickets[index], partner, 1
      from unnest(tickets, partners, granted, held_seconds) as input (index, partner, serial, held_for)
      where serial is not null and held_for is not null
    ) held
    group by ticket, partner
    having sum(seats) <> 0;
  end if;
  -- A ticket can be wanted under several events, but it has seats for one of them.
  select array_agg(id), array_agg(seats), array_agg(id) filter (where seats = free)
  into sold_tickets, sold_seats, sold_out
  from unnest(wanted_tickets, sold, wanted.seats_left) as _ (id, seats, free) where seats > 0;
  if sold_tickets is not null then
    update tickets set taken = taken + sold_seats[array_position(sold_tickets, id)]
    where shard_id = shard and id = any(sold_tickets);
    if wanted.allocated is not null then
      update allocations set taken = taken + sold_to.seats
      from unnest(limited_tickets, limited_partners, limited_seats) as sold_to (ticket, partner, seats)
      where shard_id = shard and ticket_id = sold_to.ticket and partner_id = sold_to.partner and sold_to.seats > 0;
    end if;
  end if;
end $$;
