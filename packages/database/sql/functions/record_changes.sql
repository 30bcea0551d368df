-- Records the change of these registrations for finalize_batches: one row per batch. Only change_registrations and
-- release_registrations call it. It reads and inserts in two statements: if an insert reads a table, Citus does not see
-- that one shard is meant, and reads all shards of all servers.
create or replace function record_changes(shard integer, change text, changed bigint[]) returns void
language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  events integer[];
  partners integer[];
  batch_ids uuid[];
  -- As text, because arrays of different lengths do not make an array.
  lists text[];
begin
  select array_agg(event_id), array_agg(partner_id), array_agg(batch_id), array_agg(list)
  into events, partners, batch_ids, lists
  from (
    select event_id, partner_id, batch_id, array_agg(serial)::text as list from registrations
    where shard_id = shard and serial = any(changed)
    group by event_id, partner_id, batch_id
  ) of_batch;
  insert into changes (shard_id, kind, event_id, partner_id, batch_id, serials)
  select shard, change, event_id, partner_id, batch_id, list::bigint[]
  from unnest(events, partners, batch_ids, lists) as change_of (event_id, partner_id, batch_id, list);
end $$;
