-- Records outcomes. A row that another process has leased by now stays as it is.
create or replace function record_deliveries(
  shard integer, kinds text[], events integer[], subjects text[], leases uuid[],
  states text[], reasons text[], attempt_counts integer[], revisions integer[], possibly_twices boolean[], tried_ms_ago double precision[],
  due_in_ms double precision[]
) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  recorded_at constant timestamptz := now();
  -- In seconds: Citus refuses an update that adds an interval to a time.
  recorded_s constant double precision := extract(epoch from recorded_at);
begin
  -- Not waited for: if Postgres crashes, the rows are `sending` again, as after a crash of the process. The next lease is waited for,
  -- which writes these outcomes as well, so they are no more than a process may have in `sending`.
  perform set_config('synchronous_commit', 'off', true);
  update deliveries
  set state = ended.state, reason = ended.reason, attempts = ended.attempts, possibly_twice = ended.possibly_twice,
    revision = coalesce(ended.revision, deliveries.revision), lease = null,
    -- Null where there was no attempt.
    tried_at = coalesce(to_timestamp(recorded_s - ended.tried_ms_ago / 1000), deliveries.tried_at),
    due_at = to_timestamp(recorded_s + ended.due_in_ms / 1000),
    sent_at = case when ended.state = 'sent' then recorded_at else sent_at end
  from unnest(kinds, events, subjects, leases, states, reasons, attempt_counts, revisions, possibly_twices, tried_ms_ago, due_in_ms)
    as ended (kind, event_id, subject, lease, state, reason, attempts, revision, possibly_twice, tried_ms_ago, due_in_ms)
  where deliveries.shard_id = shard and deliveries.event_id = ended.event_id and deliveries.kind = ended.kind
    and deliveries.subject = ended.subject and deliveries.lease = ended.lease and deliveries.state = 'sending';
end $$;
