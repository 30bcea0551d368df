-- Copies the names and addresses of up to "entry_limit" further journal entries to the table that operators
-- search. One process does so at a time. Returns whether it should be called again at once: not during a
-- launch, which needs the CPU. Runs as the owner, so that the worker cannot read attendees' data.
create or replace function index_attendees(shard integer, entry_limit integer) returns boolean
language plpgsql security definer set search_path from current
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  scanned bigint;
  head bigint;
  scan_to bigint;
begin
  insert into attendee_scans (shard_id) values (shard) on conflict do nothing;
  select last_offset into scanned from attendee_scans where shard_id = shard for update skip locked;
  select last_offset into head from journal_heads where shard_id = shard;
  -- "scanned" is null if another process scans.
  if coalesce(scanned >= head, true) then
    return false;
  end if;
  -- Entries that are no longer kept are skipped.
  select greatest(scanned, last_offset - count) into scanned from journal_segments
  where shard_id = shard and last_offset > scanned order by last_offset limit 1;
  scan_to := least(head, scanned + entry_limit);

  insert into attendees (shard_id, event_id, serial, name, email)
  select shard, r.event_id, r.serial, lower(r.full_name), lower(r.email_address)
  from (
    select coalesce(serials[place], first_serial + place - 1) as serial
    from (
      select serials, first_serial, greatest(scanned - last_offset + count, 0) + 1 as first_place,
        least(scan_to - last_offset + count, count) as last_place
      from journal_segments
      where shard_id = shard and last_offset > scanned and last_offset <= (
          select last_offset from journal_segments where shard_id = shard and last_offset >= scan_to
          order by last_offset limit 1
        )
        and kind in ('confirmed', 'failed', 'cancelled')
    ) segment
    cross join lateral generate_series(first_place, last_place) as place
  ) entry
  cross join lateral (
    select event_id, serial, full_name, email_address from registrations
    where shard_id = shard and serial = entry.serial offset 0
  ) r
  -- The seat of a basket that was never confirmed has none.
  where r.full_name is not null
  on conflict (shard_id, serial) do nothing;

  update attendee_scans set last_offset = scan_to where shard_id = shard;
  -- During a launch, at least "entry_limit" entries are younger than a second.
  return scan_to < head and (
    select at from journal_segments
    where shard_id = shard and last_offset >= head - entry_limit order by last_offset limit 1
  ) < now() - interval '1 second';
end $$;
