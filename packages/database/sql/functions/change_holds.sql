-- Changes holds as change_and_read_holds does, and returns only the outcomes. For API processes of the
-- previous release, which run during an upgrade and read the holds themselves. The next release removes it.
create or replace function change_holds(
  shard integer, lock_within_ms integer, change text,
  hold_ids uuid[], extended_seconds integer[], limit_seconds integer,
  holds integer[], seats bigint[], digests uuid[], full_names text[], email_addresses text[], phone_numbers text[],
  genders text[], tables_or_seats text[], extras_1 text[], extras_2 text[],
  hold_percent integer default null
) returns text[] language plpgsql security definer set search_path from current
as $$
declare
  answer json;
begin
  answer := change_and_read_holds(
    shard, lock_within_ms, change, hold_ids, extended_seconds, limit_seconds, holds, seats, digests,
    full_names, email_addresses, phone_numbers, genders, tables_or_seats, extras_1, extras_2, hold_percent
  );
  return array(select json_array_elements_text(answer -> 'outcomes'));
end $$;
