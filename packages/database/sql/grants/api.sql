-- The privileges of the API: psql -v role=floodgate_api -f api.sql. "floodgate grant" runs it, and "floodgate
-- migrate" runs it again for each granted role. Columns are listed if a column is a secret or attendee data,
-- and for updates, so that a fault in the API cannot change settings of operators.

-- The API writes attendees' data and cannot read it back.
grant insert on registrations to :"role";
grant select (
  shard_id, serial, batch_id, position, partner_id, event_id, ticket_id, pass_code, attendee_digest,
  reserved_at, held_until, cancelled_at, hold_id, seat, partner_reference
) on registrations to :"role";
grant select, insert on batches to :"role";
-- It inserts a change when a ticket sells out. On a cluster, Citus writes the defaults (id, at) as well.
grant insert (shard_id, id, at, kind, ticket_id) on changes to :"role";
grant usage on sequence registrations_serial_seq, changes_id_seq to :"role";
grant select, update (taken) on tickets, allocations to :"role";
grant select (
  shard_id, serial, id, event_id, ticket_id, partner_id, seats, state, partner_reference,
  joined_at, offered_at, expires_at, skipped
) on waiting_entries to :"role";
grant select on gates, devices, admissions to :"role";
grant select (shard_id, device_id, counter) on scans to :"role";
grant update (
  code_hash, public_key, token_hash, version, last_contact_at, last_counter, signed_off_at
) on devices to :"role";
grant select, insert, delete on idempotency_keys, held_seats to :"role";

grant select (id, requests_per_second, weight, disabled_at) on partners to :"role";
grant select on schema_files, secret_keys, shards, events, event_grants, pass_keys to :"role";
-- The first process that signs with a key stores its public key.
grant update (public_key) on pass_keys to :"role";
grant select, insert, update (hour) on secret_key_uses to :"role";
grant select, insert, update on rate_limit_windows, test_resets to :"role";

-- Partners manage their webhooks. The API writes the secrets that sign messages and cannot read them back.
grant select on changes, journal_heads, journal_segments, webhook_attempts to :"role";
grant select, insert, update, delete on journal_consumers, webhook_endpoints to :"role";
grant select (shard_id, endpoint_id, id, public_key, created_at, ends_at) on webhook_secrets to :"role";
grant insert, update (ends_at), delete on webhook_secrets to :"role";
-- The audit log records the changes of partners. The API cannot read it.
grant insert on partner_audit_log to :"role";

grant execute on function reserve_batch, change_registrations, change_and_read_holds, change_holds, replace_attendee,
  join_waiting, leave_waiting, find_waiting, record_scans
to :"role";
-- reserve_batch has the rights of its caller, and so have the functions that it calls.
grant execute on function find_first_answer, find_earlier, reserve_general, lock_tickets, limit_partners, decide_seats,
  insert_registrations
to :"role";
-- It reports itself to operators.
grant select, insert, update, delete on processes to :"role";
