-- Makes known to the search what the journal does not name: registrations that are held, which it names when they are
-- confirmed, and up to "entry_limit" of those that were sold before the search had its table, from the newest one.
create or replace function add_held_and_old(shard integer, refill_to bigint, entry_limit integer) returns void
language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  refill_from bigint;
  missing bigint[];
begin
  -- Looked up one by one; otherwise the planner could read the whole table of the search.
  missing := array(
    select serial from registrations r
    where shard_id = shard and held_until < 'infinity' and cancelled_at is null and full_name is not null
      and (select true from search_entries e where e.shard_id = shard and e.serial = r.serial) is null
    limit entry_limit
  );
  if missing <> '{}' then
    perform add_entries(shard, missing);
  end if;
  if refill_to > 0 then
    select serial into refill_from from registrations
    where shard_id = shard and serial < refill_to order by serial desc offset entry_limit - 1 limit 1;
    refill_from := greatest(refill_from, (
      select serial from waiting_entries
      where shard_id = shard and serial < refill_to order by serial desc offset entry_limit - 1 limit 1
    ), 0);
    missing := array(
      select serial from registrations where shard_id = shard and serial >= refill_from and serial < refill_to
    );
    missing := missing || array(
      select serial from waiting_entries where shard_id = shard and serial >= refill_from and serial < refill_to
    );
    perform add_entries(shard, missing);
    update attendee_scans set refill_below = refill_from where shard_id = shard;
  end if;
end $$;
