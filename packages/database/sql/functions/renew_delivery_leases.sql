-- Extends the leases of these deliveries. Returns which of them are still leased, as 'lease subject'.
create or replace function renew_delivery_leases(
  shard integer, kinds text[], events integer[], subjects text[], leases uuid[], lease_for interval
) returns text[]
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  kept text[] := '{}';
begin
  for i in 1 .. cardinality(subjects) loop
    update deliveries set due_at = now() + lease_for
    where shard_id = shard and event_id = events[i] and kind = kinds[i] and subject = subjects[i]
      and lease = leases[i] and state = 'sending';
    if found then
      kept := kept || (leases[i] || ' ' || subjects[i]);
    end if;
  end loop;
  return kept;
end $$;
