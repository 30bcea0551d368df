-- Serves up to "most" entries of each waiting list that has free seats, such as after a raised capacity. Lets entries expire that need more
-- seats than the ticket has, and all entries if the list or the sale is closed. Returns the number of entries. Skips tickets that another
-- transaction has locked.
create or replace function serve_waiting_lists(shard integer, most integer) returns integer
language plpgsql security definer set search_path from current
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  due bigint[];
  total integer := 0;
  entry record;
begin
  for entry in
    select id, case
      when offer_hours is null or coalesce(least(waiting_closes_at, sale_ends_at) <= now(), false) then 0 else capacity
    end as most_seats
    from tickets
    where shard_id = shard and waiting > 0 and (
      active and taken < capacity or offer_hours is null or coalesce(least(waiting_closes_at, sale_ends_at) <= now(), false)
    )
    order by id for no key update skip locked
  loop
    due := array(
      select serial from waiting_entries
      where shard_id = shard and ticket_id = entry.id and state = 'waiting' and seats > entry.most_seats limit most
    );
    perform change_waiting(shard, 'expired', due);
    total := total + cardinality(due) + serve_waiting(shard, entry.id, most);
  end loop;
  return total;
end $$;
