-- Records for finalize_batches that these admissions were made, or are known to be conflicts: one row per
-- kind and partner. It reads and inserts in two statements: see record_changes.
create or replace function record_admissions(shard integer, event integer, admitted bigint[], admitted_again bigint[])
returns void language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  -- By change.
  kinds text[] := array_fill('admitted'::text, array[cardinality(admitted)])
    || array_fill('admitted_again'::text, array[cardinality(admitted_again)]);
  serials bigint[];
  partners integer[];
begin
  select array_agg(kind), array_agg(partner_id), array_agg(change.serial)
  from unnest(kinds, admitted || admitted_again) as change (kind, serial)
  cross join lateral (
    select partner_id from admissions where shard_id = shard and serial = change.serial offset 0
  ) a
  into kinds, partners, serials;
  insert into changes (shard_id, kind, event_id, partner_id, serials)
  select shard, kind, event, partner_id, array_agg(serial)
  from unnest(kinds, partners, serials) as change (kind, partner_id, serial)
  group by kind, partner_id order by kind;
end $$;
