-- Leases overdue batches to one relay, the oldest first. Each lease of a batch is twice as long as the one before,
-- starting with first_lease. Returns their ids.
create or replace function lease_batches(shard integer, most integer, first_lease interval) returns uuid[]
language plpgsql as $$
#variable_conflict use_column
declare
  due uuid[];
  leased_until timestamptz[];
begin
  -- The times first: Citus refuses an update that computes a time from a column of the row.
  select array_agg(id), array_agg(until) into due, leased_until
  from (
    select id, now() + first_lease * (2 ^ least(enqueues, 6)) as until from batches
    where shard_id = shard and journal_offset is null and state in ('pending', 'confirmed') and relay_at <= now()
    order by relay_at limit most for update skip locked
  ) leased;
  if due is not null then
    update batches set enqueues = enqueues + 1, relay_at = leased.until
    from unnest(due, leased_until) as leased (batch_id, until)
    where shard_id = shard and id = leased.batch_id;
  end if;
  return coalesce(due, '{}');
end $$;
