-- Locks registrations (with "of_event": those of this event), and the first registration of each one's seat,
-- in the order of their serials. So scans, cancellations and changes of attendee wait for each other, also if
-- they name different passes of one seat. A caller that locks tickets locks them before.
create or replace function lock_seats(shard integer, passes bigint[], of_event integer default null) returns void
language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  named bigint[];
begin
  -- The seat of a registration never changes.
  select array_agg(serial) || array_agg(seat) filter (where seat is not null) into named from registrations
  where shard_id = shard and serial = any(passes) and event_id = coalesce(of_event, event_id);
  perform from registrations where shard_id = shard and serial = any(named) order by serial for no key update;
end $$;
