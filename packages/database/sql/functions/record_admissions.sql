-- Records these admissions for finalize_batches, one row per partner. It reads and inserts in two statements: see record_changes.
create or replace function record_admissions(shard integer, change text, changed bigint[]) returns void
language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  events integer[];
  partners integer[];
  -- As text, because arrays of different lengths do not make an array.
  lists text[];
begin
  select array_agg(event_id), array_agg(partner_id), array_agg(list) into events, partners, lists
  from (
    select event_id, partner_id, array_agg(serial)::text as list from admissions
    where shard_id = shard and serial = any(changed)
    group by event_id, partner_id
  ) of_partner;
  insert into changes (shard_id, kind, event_id, partner_id, serials)
  select shard, change, event_id, partner_id, list::bigint[]
  from unnest(events, partners, lists) as change_of (event_id, partner_id, list);
end $$;
