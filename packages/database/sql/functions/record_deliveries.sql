-- Records outcomes. Skips rows that another process has leased since.
create or replace function record_deliveries(shard integer, outcomes json) returns void
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  recorded_at constant timestamptz := now();
  -- In seconds, because Citus rejects an update that adds an interval to a time.
  recorded_s constant double precision := extract(epoch from recorded_at);
begin
  -- The commit does not wait for the disk: if Postgres crashes, the rows are `sending` again, as after a
  -- crash of the process. The commit of the next lease does wait, and writes these outcomes as well. So a
  -- crash loses at most the outcomes of the rows that a process can have in `sending`.
  perform set_config('synchronous_commit', 'off', true);
  update deliveries
  set state = ended.state, reason = ended.reason, attempts = ended.attempts, possibly_twice = ended."possiblyTwice",
    revision = coalesce(ended.revision, deliveries.revision), lease = null,
    -- Null if there was no attempt.
    tried_at = coalesce(to_timestamp(recorded_s - ended."triedMsAgo" / 1000), deliveries.tried_at),
    due_at = to_timestamp(recorded_s + ended."dueInMs" / 1000),
    failing_since = case
      when ended.state = 'retry' then coalesce(deliveries.failing_since, recorded_at) else deliveries.failing_since
    end,
    sent_at = case when ended.state = 'sent' then recorded_at else sent_at end
  from json_to_recordset(outcomes) as ended (
    kind text, "eventId" integer, subject text, lease uuid, state text, reason text, attempts integer,
    "possiblyTwice" boolean, revision integer, "triedMsAgo" double precision, "dueInMs" double precision
  )
  where deliveries.shard_id = shard and deliveries.event_id = ended."eventId" and deliveries.kind = ended.kind
    and deliveries.subject = ended.subject and deliveries.lease = ended.lease and deliveries.state = 'sending';
end $$;
