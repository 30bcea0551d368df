-- Records outcomes. A row that another process has leased by now stays as it is.
create or replace function record_deliveries(shard integer, outcomes json) returns void
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
  set state = ended.state, reason = ended.reason, attempts = ended.attempts, possibly_twice = ended."possiblyTwice",
    revision = coalesce(ended.revision, deliveries.revision), lease = null,
    -- Null where there was no attempt.
    tried_at = coalesce(to_timestamp(recorded_s - ended."triedMsAgo" / 1000), deliveries.tried_at),
    due_at = to_timestamp(recorded_s + ended."dueInMs" / 1000),
    sent_at = case when ended.state = 'sent' then recorded_at else sent_at end
  from json_to_recordset(outcomes) as ended (
    kind text, "eventId" integer, subject text, lease uuid, state text, reason text, attempts integer,
    "possiblyTwice" boolean, revision integer, "triedMsAgo" double precision, "dueInMs" double precision
  )
  where deliveries.shard_id = shard and deliveries.event_id = ended."eventId" and deliveries.kind = ended.kind
    and deliveries.subject = ended.subject and deliveries.lease = ended.lease and deliveries.state = 'sending';
end $$;
