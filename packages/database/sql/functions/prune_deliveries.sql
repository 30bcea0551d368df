-- Deletes up to "most" finished deliveries that are older than "days", and returns how many. A row stays while the journal still has
-- entries that are as old: a reader that starts again would send the message a second time.
create or replace function prune_deliveries(shard integer, days integer, most integer) returns integer
language plpgsql as $$
declare
  oldest_entry timestamptz;
  deleted integer;
begin
  oldest_entry := (select at from journal_segments where shard_id = shard order by last_offset limit 1);
  delete from deliveries
  where shard_id = shard and ctid = any(array(
    select ctid from deliveries
    where shard_id = shard and created_at < least(now() - make_interval(days => days), oldest_entry)
      and state not in ('queued', 'retry', 'sending')
    limit most
  ));
  get diagnostics deleted = row_count;
  return deleted;
end $$;
