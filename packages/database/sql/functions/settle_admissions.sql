-- Decides which admissions of a seat in an area count, from all that is known, in the order of their times:
-- the first one, and with the rule 're-entry' the first one after each exit. Every other one is a conflict.
-- Returns the serials of the conflicts that nobody knows yet. The caller has locked the seat. An admission
-- that arrives late, from a device that was offline, can turn a later one into a conflict, and a late exit
-- can end a conflict.
create or replace function settle_admissions(shard integer, of_seat bigint, of_area text, rule text) returns bigint[]
language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  step record;
  -- The admission that a further one would conflict with, and the open one before this call.
  holder bigint;
  was_open bigint;
  is_inside boolean := false;
  conflicts bigint[] := '{}';
  -- By admission: what it conflicts with, and when the person left.
  again bigint;
begin
  for step in
    select serial, device_id, counter, at, again_of, left_at, is_open, is_known_conflict from admissions
    where shard_id = shard and seat = of_seat and area = of_area and undone_at is null
    union all
    select null, device_id, counter, at, null, null, false, false from scans s
    where shard_id = shard and s.seat = of_seat and direction = 'out' and outcome = 'exited' and area = of_area
    -- Several scans of one device can have one time, if its clock was set back.
    order by at, device_id, counter
  loop
    if step.is_open then
      was_open := step.serial;
    end if;
    if step.serial is null then
      if is_inside then
        update admissions set left_at = step.at
        where shard_id = shard and serial = holder and left_at is distinct from step.at;
      end if;
      is_inside := false;
      continue;
    end if;
    again := case when is_inside or rule = 'once' then holder end;
    if again is not null and not step.is_known_conflict then
      conflicts := conflicts || step.serial;
    end if;
    if again is distinct from step.again_of or step.left_at is not null then
      update admissions set again_of = again, left_at = null, is_known_conflict = is_known_conflict or again is not null
      where shard_id = shard and serial = step.serial;
      update scans set outcome = case when again is null then 'admitted' else 'admitted-again' end
      where shard_id = shard and device_id = step.device_id and counter = step.counter;
    end if;
    if again is null then
      holder := step.serial;
      is_inside := true;
    end if;
  end loop;
  if rule = 're-entry' and not is_inside then
    holder := null;
  end if;
  if was_open is distinct from holder then
    update admissions set is_open = false where shard_id = shard and serial = was_open;
    update admissions set is_open = true where shard_id = shard and serial = holder;
  end if;
  return conflicts;
end $$;
