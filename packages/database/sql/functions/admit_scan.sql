-- Stores what follows from a scan of the device whose outcome is 'admitted' or 'exited': the admission, or
-- the end of one, and the conflicts with other admissions of the seat in the area. "rule" is the entry rule
-- of the gate. "is_admitted": the seat has an open admission already. "known_admission": the server had
-- admitted the pass before the device did, so the admission is stored. The caller has locked the seat.
-- Returns
--
--   admission  the serial of the admission; null: none
--   is_again   whether it is a conflict. The outcome of the scan is 'admitted-again' then
--   conflicts  the serials of all admissions that are conflicts from now on
create or replace function admit_scan(
  shard integer, device integer, scan bigint, partner integer, rule text, is_admitted boolean, known_admission bigint,
  out admission bigint, out is_again boolean, out conflicts bigint[]
) returns record language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  stored record;
begin
  select event_id, gate_id, area, serial, seat, at, decision, outcome into stored from scans
  where shard_id = shard and device_id = device and counter = scan;
  admission := known_admission;
  conflicts := '{}';
  if stored.outcome = 'admitted' and admission is null then
    insert into admissions (
      shard_id, event_id, partner_id, registration, seat, area, gate_id, device_id, counter, at, is_open
    ) values (
      shard, stored.event_id, partner, stored.serial, stored.seat, stored.area, stored.gate_id, device, scan, stored.at,
      not is_admitted and rule <> 'any'
    ) returning serial into admission;
  end if;
  if rule = 'any' and stored.outcome = 'exited' then
    update admissions set left_at = stored.at
    where shard_id = shard and seat = stored.seat and area = stored.area and left_at is null and at <= stored.at;
  end if;
  -- Without a decision of the device it is a question: the open admission has answered it.
  if rule <> 'any' and (stored.outcome = 'exited' or stored.decision is not null) then
    conflicts := settle_admissions(shard, stored.seat, stored.area, rule);
  end if;
  is_again := exists (select from admissions where shard_id = shard and serial = admission and again_of is not null);
  if is_again then
    update scans set outcome = 'admitted-again' where shard_id = shard and device_id = device and counter = scan;
  end if;
end $$;
