-- Treats up to "batch_size" further items of a job, in one transaction with the outcome of each and with the
-- cursor. So nothing is done twice or left out, also if the process dies. With "skip_reason", only records
-- that these items could not be done. Extends the lease. Returns json: "state" is 'lost' (the caller has lost
-- the lease, or the job was paused or aborted), 'end' (no item is left) or 'more', with how many were treated
-- and how long it took.
--
-- Runs as the owner: the worker can change registrations only through jobs that an operator has started.
create or replace function run_job_batch(
  shard integer, job uuid, held_lease uuid, lease_seconds integer, batch_size integer, lock_within_ms integer,
  skip_reason text default null
) returns json
language plpgsql security definer set search_path from current
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  this record;
  part_items text[];
  batch text[];
  -- By item of the batch: why it could not be done. Null: it is done.
  reasons text[];
  failures integer;
  treated integer;
begin
  perform set_config('lock_timeout', lock_within_ms::text, true);
  select kind, event_id, settings, part, position into this from jobs
  where shard_id = shard and id = job and lease = held_lease and state = 'running' for update;
  if not found then
    return json_build_object('state', 'lost', 'treated', 0, 'tookMs', 0);
  end if;
  select items into part_items from job_parts where shard_id = shard and job_id = job and part = this.part;
  if not found then
    return json_build_object('state', 'end', 'treated', 0, 'tookMs', 0);
  end if;

  batch := part_items[this.position + 1 : this.position + batch_size];
  treated := cardinality(batch);
  if skip_reason is not null then
    reasons := array_fill(skip_reason, array[treated]);
  elsif this.kind = 'cancel' then
    reasons := cancel_items(shard, this.event_id, batch, (this.settings ->> 'leaveAdmitted')::boolean, lock_within_ms);
  elsif this.kind = 'call-off' then
    -- A further registration has the seat of one that was replaced. The end of the job finds it.
    reasons := array_replace(cancel_items(shard, this.event_id, batch, false, lock_within_ms), 'replaced', null);
  elsif this.kind = 'resend' then
    reasons := resend_items(shard, this.event_id, batch);
  else
    raise exception 'unknown kind of job: %', this.kind;
  end if;

  insert into job_failures (shard_id, job_id, item, reason)
  select shard, job, item, reason from unnest(batch, reasons) as ended (item, reason) where reason is not null
  on conflict do nothing;
  select count(*) filter (where reason is not null) into failures from unnest(reasons) as reason;
  update jobs
  set done = done + treated - failures, failed = failed + failures,
    part = case when position + treated >= cardinality(part_items) then part + 1 else part end,
    position = case when position + treated >= cardinality(part_items) then 0 else position + treated end,
    problem = null, leased_until = now() + make_interval(secs => lease_seconds)
  where shard_id = shard and id = job;
  return json_build_object(
    'state', 'more', 'treated', treated, 'tookMs', extract(epoch from clock_timestamp() - now()) * 1000
  );
end $$;
