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
  -- Computed before the update: Citus plans no function of a row's values in one.
  recorded_at constant timestamptz := now();
  due_ats timestamptz[] := array(
    select recorded_at + make_interval(secs => ms / 1000) from unnest(due_in_ms) with ordinality as due (ms, index) order by index
  );
  -- Null where there was no attempt.
  tried_ats timestamptz[] := array(
    select recorded_at - make_interval(secs => ms / 1000) from unnest(tried_ms_ago) with ordinality as tried (ms, index) order by index
  );
begin
  -- Not waited for: if Postgres crashes, the rows are `sending` again, as after a crash of the process. The next lease is waited for,
  -- which writes these outcomes as well, so they are no more than a process may have in `sending`.
  perform set_config('synchronous_commit', 'off', true);
  update deliveries
  set state = ended.state, reason = ended.reason, attempts = ended.attempts, possibly_twice = ended.possibly_twice,
    revision = coalesce(ended.revision, deliveries.revision), lease = null,
    tried_at = coalesce(ended.tried_at, deliveries.tried_at), due_at = ended.due_at,
    sent_at = case when ended.state = 'sent' then recorded_at else sent_at end
  from unnest(kinds, events, subjects, leases, states, reasons, attempt_counts, revisions, possibly_twices, tried_ats, due_ats)
    as ended (kind, event_id, subject, lease, state, reason, attempts, revision, possibly_twice, tried_at, due_at)
  where deliveries.shard_id = shard and deliveries.event_id = ended.event_id and deliveries.kind = ended.kind
    and deliveries.subject = ended.subject and deliveries.lease = ended.lease and deliveries.state = 'sending';
end $$;
