-- Locks the wanted tickets of a batch in id order. Wanted tickets are distinct pairs of ticket and event, in
-- this order: with the id alone, a wrong event reference would lock another event's ticket. Returns, by
-- wanted ticket:
--
--   seats_left  the free seats. Null: the event has no such ticket. Negative: it is not on sale (with
--               "any_time" only if it is inactive). 0 while somebody waits for it
--   set_aside   how many of them are reserved for partners
--   capacities, sale_ends
--
-- and allocated, the ids of the tickets that have allocations. Null: none.
create or replace function lock_tickets(
  shard integer, wanted_tickets integer[], wanted_events integer[], any_time boolean,
  out seats_left integer[], out set_aside integer[], out capacities integer[], out sale_ends timestamptz[],
  out allocated integer[]
) returns record language plpgsql
as $$
#variable_conflict use_column
declare
  -- By wanted ticket: ticket and event in one number, so that one look-up compares both.
  wanted_keys constant bigint[] := array(
    select ticket::bigint << 32 | event from unnest(wanted_tickets, wanted_events) as wanted (ticket, event)
  );
  entry record;
begin
  seats_left := array_fill(null::integer, array[cardinality(wanted_tickets)]);
  for entry in
    select id, allocated, capacity, sale_ends_at, array_position(wanted_keys, id::bigint << 32 | event_id) as index,
      case
        when not active or not any_time and (now() < sale_starts_at or now() >= sale_ends_at) then -1
        when waiting > 0 then 0
        else capacity - taken end as seats
    from tickets
    where shard_id = shard and id = any(wanted_tickets) and id::bigint << 32 | event_id = any(wanted_keys)
    order by id
    for no key update
  loop
    seats_left[entry.index] := entry.seats;
    capacities[entry.index] := entry.capacity;
    sale_ends[entry.index] := entry.sale_ends_at;
    if entry.allocated then
      allocated := allocated || entry.id;
    end if;
  end loop;

  if allocated is null then
    set_aside := array_fill(0, array[cardinality(wanted_tickets)]);
    return;
  end if;
  set_aside := array(
    select seats
    from unnest(wanted_tickets) with ordinality as wanted (id, index)
    cross join lateral (
      select coalesce(sum(greatest(reserved - taken, 0)), 0) as seats from allocations
      where shard_id = shard and ticket_id = wanted.id and coalesce(releases_at > now(), true)
        and wanted.id = any(allocated)
      offset 0
    ) a
    order by index
  );
end $$;
