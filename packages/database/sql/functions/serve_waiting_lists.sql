-- Serves up to "entry_limit" entries of each waiting list that has free seats, such as after a raised
-- capacity. Lets entries expire that need more seats than the ticket has, and all entries if the list or the
-- sale is closed or the event has started. Returns the number of entries. Skips tickets that another
-- transaction has locked.
create or replace function serve_waiting_lists(
  shard integer, entry_limit integer, hold_percent integer default 20
) returns integer
language plpgsql security definer set search_path from current
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  due bigint[];
  total integer := 0;
  most_seats integer;
  entry record;
begin
  for entry in
    select t.id, e.starts_at from tickets t join events e on e.id = t.event_id
    where t.shard_id = shard and t.waiting > 0 and (
      t.active and t.taken < t.capacity or t.offer_hours is null
      or coalesce(least(t.waiting_closes_at, t.sale_ends_at, e.starts_at) <= now(), false)
    )
    order by t.id
  loop
    select case
      when offer_hours is null
        or coalesce(least(waiting_closes_at, sale_ends_at, entry.starts_at) <= now(), false) then 0
      else capacity
    end into most_seats
    from tickets where shard_id = shard and id = entry.id and waiting > 0 for no key update skip locked;
    continue when not found;
    due := '{}';
    -- No entry needs more than 10 seats.
    if most_seats < 10 then
      due := array(
        select serial from waiting_entries
        where shard_id = shard and ticket_id = entry.id and state = 'waiting' and seats > most_seats limit entry_limit
      );
      perform change_waiting(shard, 'expired', due);
    end if;
    total := total + cardinality(due) + serve_waiting(shard, entry.id, entry_limit, hold_percent);
  end loop;
  return total;
end $$;
