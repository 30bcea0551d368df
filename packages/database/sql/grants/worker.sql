-- The privileges of the worker, see api.sql.

grant select on shards, schema_files, journal_heads, batches, changes to :"role";
grant update (relay_at, enqueues) on batches to :"role";
grant select, delete on journal_segments to :"role";
-- It deletes expired keys by their age. The keys are the partners' own and can contain anything.
grant select (shard_id, created_at), delete on idempotency_keys to :"role";
-- It runs the jobs of operators. To find what a called-off event still has, it reads no attendee data.
-- It deletes old jobs.
grant select, delete on jobs to :"role";
grant select (shard_id, job_id, item), delete on job_failures to :"role";
grant update (
  state, total, started_at, ended_at, next_at, lease, leased_until, problem
) on jobs to :"role";
grant select (shard_id, job_id, part), insert, delete on job_parts to :"role";
grant select (shard_id, serial, event_id, cancelled_at) on registrations to :"role";
grant select (action, subject), insert (actor, action, subject, after) on audit_log to :"role";
grant execute on function run_job_batch to :"role";
grant execute on function finalize_batches, expire_holds, index_attendees, serve_waiting_lists, compact_held_seats
to :"role";
-- It reads what the alerts about doors need: neither names nor tokens.
grant select (id, starts_at, ends_at) on events to :"role";
grant select (shard_id, id, event_id, opens_at, closes_at) on gates to :"role";
grant select (
  shard_id, id, event_id, gates, public_key, last_contact_at, last_counter, received, signed_off_at, revoked_at
) on devices to :"role";
-- It reports itself to operators.
grant select, insert, update, delete on processes to :"role";
