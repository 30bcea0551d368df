-- The privileges of the delivery process, see api.sql. It sends to attendees and partners, so it reads their
-- names and addresses. It cannot change a registration.

grant select on
  shards, schema_files, events, event_grants, pass_keys, tickets, batches, journal_heads, journal_segments
to :"role";
grant select on event_revisions to :"role";
-- Whether an attendee has another registration, which keeps the event in the calendar.
grant select on search_entries to :"role";
grant execute on function find_entries, rarest_query, queries_of_term, fold_text, fold_phone to :"role";
grant update (public_key) on pass_keys to :"role";
grant select (
  shard_id, serial, batch_id, position, partner_id, event_id, ticket_id, pass_code, reserved_at, held_until,
  cancelled_at,
  full_name, email_address, table_or_seat, partner_reference
) on registrations to :"role";
grant select on waiting_entries, gates, admissions to :"role";
grant select (id, contact_email, disabled_at) on partners to :"role";
-- A webhook is delivered only while its partner has access to the event.
grant select (partner_id, mode, expires_at, revoked_at) on secret_keys to :"role";

grant select on journal_consumers, consumer_scans to :"role";
grant update (
  last_offset, in_flight_until, news_offset, state, failures, failing_since, next_at, lease, leased_until
) on journal_consumers to :"role";
grant update (last_offset) on consumer_scans to :"role";
grant select, update (chain_offset, disabled_reason, test_message, refused_message) on webhook_endpoints to :"role";
grant select on webhook_secrets to :"role";
grant select, insert, delete on webhook_attempts to :"role";
grant select, insert, update, delete on deliveries to :"role";
grant select, insert on mail_suppressions to :"role";
grant select, insert, update on mail_rate_windows to :"role";
-- It deletes old entries.
grant select (id, at, actor), delete on partner_audit_log to :"role";
grant execute on function find_news, webhook_delivered, lease_deliveries, record_deliveries to :"role";
-- It reports itself to operators.
grant select, insert, update, delete on processes to :"role";
