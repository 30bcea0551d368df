-- Leases consumers that are behind to one process, the longest waiting first. Returns their ids. A consumer that nobody
-- has looked at yet counts as behind. With nothing new, this reads two rows and an empty index.
create or replace function lease_consumers(shard integer, of_kind text, most integer, by_lease uuid, lease_for interval)
returns uuid[] language plpgsql as $$
declare
  due uuid[];
  ends constant timestamptz := now() + lease_for;
begin
  perform find_news(shard);
  select array_agg(id) into due
  from (
    select id from journal_consumers
    where shard_id = shard and kind = of_kind and is_behind and state = 'active' and next_at <= now()
      and (leased_until is null or leased_until <= now())
    order by next_at limit most for update skip locked
  ) leased;
  if due is not null then
    update journal_consumers set lease = by_lease, leased_until = ends where shard_id = shard and id = any(due);
  end if;
  return coalesce(due, '{}');
end $$;
