-- The privileges of the console, see api.sql. Operators see and change everything that the command line can,
-- so it reads attendees' data. It creates no objects, reads no hashes of partners' secrets, and changes
-- neither the journal nor the audit log.

grant select on
  schema_files, shards, events, event_grants, tickets, ticket_prices, allocations, ticket_states, batches, changes,
  registrations,
  journal_heads, journal_segments, journal_consumers, consumer_scans, deliveries, webhook_endpoints, webhook_attempts,
  mail_suppressions, secret_key_uses, audit_log, partner_audit_log, test_resets, idempotency_keys,
  held_seats, attendees, search_entries, attendee_scans, jobs, job_failures, waiting_entries, waiting_partners,
  gates, devices, scans, admissions
to :"role";
grant update (full_name, email_address, attendee_digest, held_until) on registrations to :"role";
-- Of the previous release, which corrects and finds attendees in this table.
grant insert, update (name, email) on attendees to :"role";
grant insert, update (words) on search_entries to :"role";
grant select, insert, update on operators, partners to :"role";
grant select, insert, update, delete on operator_access, processes to :"role";
grant select, insert, delete on operator_event_roles to :"role";
grant insert on events, audit_log to :"role";
grant update (
  name, shard_id, cancel_until, starts_at, ends_at, venue, time_zone, language, reply_to, revision,
  archived_at, stopped_tickets, currency, called_off_at, mail_operator_cancels, mail_partner_cancels
) on events to :"role";
grant insert, delete on event_grants to :"role";
grant select, insert, update, delete on event_revisions to :"role";
-- It changes no shard. On a cluster, a write to events also locks the tables that they refer to, and Citus
-- lets a role do so only if it may change them.
grant update (id) on shards to :"role";
grant insert, update, delete on allocations to :"role";
grant insert, update (name, tickets, opens_at, closes_at, shows_names) on gates to :"role";
grant insert, update (code_hash, code_expires_at, revoked_at, lost) on devices to :"role";
grant select, insert, delete on sale_seconds to :"role";
grant insert, delete on tickets, ticket_prices to :"role";
grant update (
  title, price, benefits, active, capacity, allocated, sale_starts_at, sale_ends_at, offer_hours,
  waiting_closes_at, last_modified_at, last_modified_by
) on tickets to :"role";
grant usage on sequence ticket_ids, door_ids, changes_id_seq to :"role";
grant insert (shard_id, id, at, kind, ticket_id) on changes to :"role";
grant update (state, pending_since, finished_at, failure, relay_at, journal_offset) on batches to :"role";

grant select (key_id, partner_id, mode, created_at, expires_at, revoked_at), insert on secret_keys to :"role";
grant update (expires_at, revoked_at) on secret_keys to :"role";
grant select (id, public_key, created_at, retired_at, withdrawn_at) on pass_keys to :"role";
grant insert (id), update (retired_at, withdrawn_at) on pass_keys to :"role";

grant insert, delete on journal_consumers to :"role";
grant update (
  last_offset, in_flight_until, news_offset, state, failures, failing_since, next_at, lease, leased_until
) on journal_consumers to :"role";
grant update (last_offset) on consumer_scans to :"role";
grant insert, update, delete on webhook_endpoints to :"role";
grant select (shard_id, endpoint_id, id, public_key, created_at, ends_at) on webhook_secrets to :"role";
grant insert, update (ends_at), delete on webhook_secrets to :"role";
grant insert, update, delete on deliveries to :"role";
grant delete on mail_suppressions to :"role";
grant insert, update (state, ended_at, next_at, lease, leased_until) on jobs to :"role";
grant select (shard_id, job_id), insert, delete on job_parts to :"role";
grant execute on function find_news, change_registrations, replace_attendee, reserve_guests, find_entries to :"role";
-- find_entries and the correction of an attendee have the rights of their caller, and so have the functions that they
-- call.
grant execute on function rarest_query, queries_of_term, words_of_entry, fold_text, fold_phone to :"role";
