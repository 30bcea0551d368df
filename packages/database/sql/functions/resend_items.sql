-- Queues the e-mails with the passes of registrations of an event again, for a job. Returns, by item, why
-- there is no e-mail; null: it is queued, or waits for its first attempt already.
create or replace function resend_items(shard integer, event integer, items text[]) returns text[]
language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  -- By item.
  states text[];
  mails text[];
  wanted text[];
begin
  select array_agg(r.state order by place), array_agg(d.state order by place)
  from unnest(items) with ordinality as input (item, place)
  left join lateral (
    select case when cancelled_at is not null or held_until <= now() then 'cancelled'
        when held_until < 'infinity' then 'held' else (
          select state::text from batches where shard_id = shard and id = batch_id
        ) end as state
    from registrations where shard_id = shard and serial = input.item::bigint and event_id = event offset 0
  ) r on true
  left join lateral (
    select state from deliveries
    where shard_id = shard and event_id = event and kind = 'confirmation' and subject = input.item offset 0
  ) d on true
  into states, mails;
  wanted := array(
    select item from unnest(items, states, mails) as input (item, state, mail)
    where state = 'confirmed' and coalesce(mail, '') <> 'sending'
  );
  update deliveries
  set state = 'queued', attempts = 0, possibly_twice = false, lease = null, reason = null, created_at = now(),
    tried_at = null, failing_since = null, due_at = now()
  where shard_id = shard and event_id = event and kind = 'confirmation' and subject = any(wanted)
    and state not in ('queued', 'sending', 'cancelled');
  insert into deliveries (shard_id, event_id, kind, subject)
  select shard, event, 'confirmation', subject from unnest(wanted) as subject
  on conflict (shard_id, event_id, kind, subject) do nothing;
  return array(
    select case when state is null then 'not found' when state <> 'confirmed' then state
      when mail = 'sending' then 'is being sent' end
    from unnest(states, mails) with ordinality as input (state, mail, place) order by place
  );
end $$;
