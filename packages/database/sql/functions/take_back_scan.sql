-- Takes back an earlier scan of a device: by an undo, or because the device has decided the scan itself, when it got no answer. Only
-- record_scans calls it, and has locked the registration. Returns the serials of the admissions that became conflicts.
create or replace function take_back_scan(
  shard integer, device integer, taken_counter bigint, is_undo boolean, taken_at timestamptz
) returns bigint[]
language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  taken record;
  rule text;
begin
  update scans
  set outcome = case when not is_undo then 'superseded' when outcome = 'exited' then 'undone' else outcome end
  where shard_id = shard and device_id = device and counter = taken_counter and (is_undo or decision is null)
  returning serial, gate_id, area into taken;
  if taken.serial is null then
    return '{}';
  end if;
  -- Locked already, unless the device has sent another pass with the undo.
  perform from registrations where shard_id = shard and serial = taken.serial for no key update;
  update admissions set undone_at = taken_at, is_open = false
  where shard_id = shard and device_id = device and counter = taken_counter and undone_at is null;
  select entry_rule into rule from gates where shard_id = shard and id = taken.gate_id;
  if rule = 'any' then
    return '{}';
  end if;
  return settle_admissions(shard, taken.serial, taken.area, rule);
end $$;
