-- Serves up to "most" entries of each waiting list that has free seats, such as after a raised capacity, and lets them expire where the
-- list or the sale is closed. Returns the number of entries. Skips tickets that another transaction has locked.
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
    select id, offer_hours is null or coalesce(least(waiting_closes_at, sale_ends_at) <= now(), false) as is_closed from tickets
    where shard_id = shard and waiting > 0
      and (active and taken < capacity or offer_hours is null or coalesce(least(waiting_closes_at, sale_ends_at) <= now(), false))
    order by id for no key update skip locked
  loop
    if entry.is_closed then
      due := array(
        select serial from waiting_entries where shard_id = shard and ticket_id = entry.id and state = 'waiting' limit most
      );
      perform change_waiting(shard, 'expired', due);
      total := total + cardinality(due);
    else
      total := total + serve_waiting(shard, entry.id, most);
    end if;
  end loop;
  return total;
end $$;
