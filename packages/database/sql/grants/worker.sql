-- The privileges of the worker, see api.sql.

grant select on shards, schema_files, journal_heads, batches, changes to :"role";
grant update (relay_at, enqueues) on batches to :"role";
grant select, delete on journal_segments to :"role";
-- It deletes expired keys by their age. The keys are the partners' own and can contain anything.
grant select (shard_id, created_at), delete on idempotency_keys to :"role";
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
