-- Leases up to "row_limit" due deliveries of these kinds and makes them `sending`. Every event with due rows
-- gets an equal share. "consumers": per kind, only events with an active journal consumer of this kind; null:
-- all events. If a row is still `sending` when its lease expires, its process died and the message may have
-- been sent. From the third attempt on, such a row is a suspect: it may be what kills processes, and must not
-- take others with it. A call leases at most one suspect, and only "with_suspect". Returns the leased rows.
-- The statements are separate: Citus cannot run a function that reads tables inside another statement.
create or replace function lease_deliveries(
  shard integer, kinds text[], consumers text[], row_limit integer, with_suspect boolean,
  by_lease uuid, lease_for interval
) returns json
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  next record;
  due_kinds text[] := '{}';
  due_events integer[] := '{}';
  due record;
  delivery record;
  subjects text[];
  has_suspect boolean := not with_suspect;
  leased json[] := '{}';
begin
  for i in 1 .. cardinality(kinds) loop
    select 0 as event_id into next;
    loop
      -- Steps through the index from event to event, to the first due row of each. Finished rows and other
      -- rows of the event are skipped.
      select event_id, due_at <= now() as is_due into next from deliveries
      where shard_id = shard and kind = kinds[i] and event_id > next.event_id
        and state in ('queued', 'retry', 'sending')
      order by event_id, due_at limit 1;
      exit when not found;
      continue when not next.is_due or consumers[i] is not null and not exists (
        select from journal_consumers
        where shard_id = shard and event_id = next.event_id and kind = consumers[i] and state = 'active'
      );
      due_kinds := due_kinds || kinds[i];
      due_events := due_events || next.event_id;
    end loop;
  end loop;

  for due in
    select unnest(due_kinds) as kind, unnest(due_events) as event_id order by random()
  loop
    exit when cardinality(leased) >= row_limit;
    subjects := '{}';
    for delivery in
      select subject, revision, told_revision, attempts, state = 'sending' as crashed,
        state = 'sending' and attempts >= 2 as suspect, possibly_twice, created_at, tried_at
      from deliveries
      where shard_id = shard and kind = due.kind and event_id = due.event_id
        and state in ('queued', 'retry', 'sending') and due_at <= now()
        and (with_suspect or state <> 'sending' or attempts < 2)
      order by due_at
      limit least(row_limit - cardinality(leased), greatest(1, row_limit / cardinality(due_events)))
      for update skip locked
    loop
      continue when delivery.suspect and has_suspect;
      has_suspect := has_suspect or delivery.suspect;
      subjects := subjects || delivery.subject;
      leased := leased || json_build_object(
        'kind', due.kind, 'eventId', due.event_id, 'subject', delivery.subject, 'revision', delivery.revision,
        'toldRevision', delivery.told_revision,
        'attempts', delivery.attempts + delivery.crashed::integer, 'createdAt', delivery.created_at,
        'possiblyTwice', delivery.possibly_twice or delivery.crashed, 'isSuspect', delivery.suspect,
        'triedMsAgo', extract(epoch from now() - delivery.tried_at) * 1000
      );
    end loop;
    update deliveries
    set possibly_twice = possibly_twice or state = 'sending', attempts = attempts + (state = 'sending')::integer,
      state = 'sending', lease = by_lease, due_at = now() + lease_for
    where shard_id = shard and event_id = due.event_id and kind = due.kind and subject = any(subjects);
  end loop;
  return array_to_json(leased);
end $$;
