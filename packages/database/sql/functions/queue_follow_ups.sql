-- Queues a delivery for each subject that has had, or may have had, a message of kind "after" in an edition older than
-- "new_revision". Returns how many there are. A repeat queues none.
create or replace function queue_follow_ups(shard integer, event integer, of_kind text, after text, new_revision integer) returns bigint
language plpgsql as $$
declare
  queued bigint;
begin
  insert into deliveries as kept (shard_id, event_id, kind, subject, revision)
  select shard_id, event_id, of_kind, subject, new_revision from deliveries
  where shard_id = shard and event_id = event and kind = after and revision < new_revision
    and (state in ('sent', 'sending') or possibly_twice)
  on conflict (shard_id, event_id, kind, subject) do update
  set revision = excluded.revision, state = excluded.state, attempts = excluded.attempts, possibly_twice = excluded.possibly_twice,
    lease = null, reason = null, created_at = excluded.created_at, tried_at = null, due_at = excluded.due_at
  where kept.revision < excluded.revision;
  get diagnostics queued = row_count;
  return queued;
end $$;
