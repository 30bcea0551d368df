-- Makes the registrations and the entries of waiting lists in up to "entry_limit" further journal entries known to
-- the search of operators (search_entries). One process does so at a time. Returns whether it should be called again
-- at once. Runs as the owner, so that the worker cannot read attendees' data.
--
-- A launch needs the CPU. So while at least "entry_limit" entries are younger than a second, it only prevents that
-- entries become older than five seconds.
create or replace function index_attendees(shard integer, entry_limit integer) returns boolean
language plpgsql security definer set search_path from current
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  scanned bigint;
  head bigint;
  scan_to bigint;
  refill_to bigint;
  is_launch boolean;
  changed bigint[];
  replaced bigint[];
begin
  insert into attendee_scans (shard_id) values (shard) on conflict do nothing;
  select last_offset, refill_below into scanned, refill_to from attendee_scans
  where shard_id = shard for update skip locked;
  select last_offset into head from journal_heads where shard_id = shard;
  -- Another process scans.
  if scanned is null then
    return false;
  end if;
  if scanned < head then
    -- Entries that are no longer kept are skipped.
    select greatest(scanned, last_offset - count) into scanned from journal_segments
    where shard_id = shard and last_offset > scanned order by last_offset limit 1;
    scan_to := least(head, scanned + entry_limit);
    changed := array(
      select coalesce(serials[place], first_serial + place - 1)
      from (
        select serials, first_serial, greatest(scanned - last_offset + count, 0) + 1 as first_place,
          least(scan_to - last_offset + count, count) as last_place
        from journal_segments
        where shard_id = shard and last_offset > scanned and last_offset <= (
            select last_offset from journal_segments where shard_id = shard and last_offset >= scan_to
            order by last_offset limit 1
          )
          and kind in ('confirmed', 'failed', 'cancelled', 'waiting.joined')
      ) segment
      cross join lateral generate_series(first_place, last_place) as place
    );
    perform add_entries(shard, changed);
    -- The seat has another attendee, who has a serial of his own.
    replaced := array(
      select serial from registrations where shard_id = shard and serial = any(changed) and replaced_by is not null
    );
    if replaced <> '{}' then
      delete from search_entries where shard_id = shard and serial = any(replaced);
    end if;
    update attendee_scans set last_offset = scan_to where shard_id = shard;
  end if;

  is_launch := coalesce((
    select at from journal_segments
    where shard_id = shard and last_offset >= head - entry_limit order by last_offset limit 1
  ) >= now() - interval '1 second', false) and head >= entry_limit;
  if scan_to < head then
    return not is_launch or (
      select at from journal_segments where shard_id = shard and last_offset > scan_to order by last_offset limit 1
    ) < now() - interval '5 seconds';
  end if;
  if not is_launch then
    perform add_held_and_old(shard, refill_to, 5 * entry_limit);
  end if;
  return false;
end $$;
