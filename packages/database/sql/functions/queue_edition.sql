-- Queues a newer edition of a delivery, or its first. It is due when "apart" has passed since the last message was sent.
create or replace function queue_edition(shard integer, event integer, of_kind text, of_subject text, apart interval) returns void
language plpgsql as $$
declare
  last_sent_at timestamptz;
begin
  insert into deliveries (shard_id, event_id, kind, subject) values (shard, event, of_kind, of_subject)
  on conflict (shard_id, event_id, kind, subject) do nothing;
  if found then
    return;
  end if;
  -- Read first: Citus adds no interval to a row's own value in an update.
  select sent_at into last_sent_at from deliveries
  where shard_id = shard and event_id = event and kind = of_kind and subject = of_subject
  for update;
  update deliveries
  set revision = revision + 1, state = 'queued', attempts = 0, possibly_twice = false, lease = null, reason = null,
    created_at = now(), tried_at = null, due_at = greatest(now(), last_sent_at + apart)
  where shard_id = shard and event_id = event and kind = of_kind and subject = of_subject;
end $$;
