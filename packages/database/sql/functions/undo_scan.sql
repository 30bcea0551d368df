-- Takes an earlier scan of the device back, and the admission that it made, if any. A scan with the direction
-- 'undo' does so ("is_undo"), and a scan that the device decided itself when it got no answer: that one
-- replaces the question, but no decision. Returns the admissions that are conflicts from now on. The caller
-- has locked the seat.
create or replace function undo_scan(shard integer, device integer, scan bigint, is_undo boolean, undo_at timestamptz)
returns bigint[] language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  undone_scan record;
  rule text;
begin
  update scans
  set outcome = case
    when not is_undo then 'superseded' when outcome = 'exited' then 'undone' else outcome end
  where shard_id = shard and device_id = device and counter = scan and (is_undo or decision is null)
  returning serial, seat, gate_id, area into undone_scan;
  if undone_scan.serial is null then
    return '{}';
  end if;
  update admissions set undone_at = undo_at, is_open = false
  where shard_id = shard and device_id = device and counter = scan and registration = undone_scan.serial
    and undone_at is null;
  select entry_rule into rule from gates where shard_id = shard and id = undone_scan.gate_id;
  if rule <> 'any' then
    return settle_admissions(shard, undone_scan.seat, undone_scan.area, rule);
  end if;
  return '{}';
end $$;
