-- Finds the registrations of a batch that get an earlier answer or seat. Returns, by position (all null if
-- there is nothing):
--
--   known          the answer that the idempotency key got before, or 'key-reused' if that was another
--                  request. 'existing': the attendee gets its seat again
--   known_serials  the serial of that answer or seat, and
--   known_codes    its pass code. Null without a seat, or if the registration no longer exists
--   is_duplicate   the attendee is registered already, and does not get its seat again
--
-- Takes no locks. If another batch commits the same key or attendee meanwhile, the unique index refuses this
-- batch. Each key and attendee is looked up by itself (offset 0): a planner without statistics would scan the
-- whole table.
create or replace function find_earlier(
  shard integer, remembered_for interval, wanted_events integer[], tickets integer[], partners integer[],
  call_firsts integer[], call_lasts integer[], call_keys text[], call_fingerprints uuid[],
  digests uuid[], returns_existing boolean[],
  out known text[], out known_serials bigint[], out known_codes bigint[], out is_duplicate boolean[]
) returns record language plpgsql
as $$
#variable_conflict use_column
declare
  entry record;
begin
  if call_keys is not null then
    for entry in
      select input.position, earlier.fingerprint = call.fingerprint as is_same,
        coalesce(earlier.outcomes[input.position - call.first + 1], 'registered') as outcome, r.serial, r.pass_code
      from unnest(call_firsts, call_lasts, call_keys, call_fingerprints) as call (first, last, key, fingerprint)
      cross join lateral (
        select * from idempotency_keys
        where shard_id = shard and partner_id = partners[call.first]
          and event_id = wanted_events[tickets[call.first]] and key = call.key
        offset 0
      ) earlier
      cross join generate_series(call.first, call.last) as input (position)
      left join lateral (
        select serial, pass_code from registrations
        where shard_id = shard and serial = earlier.serials[input.position - call.first + 1]
          and partner_id = earlier.partner_id and event_id = earlier.event_id
        offset 0
      ) r on true
      where earlier.created_at > now() - remembered_for
    loop
      known[entry.position] := case when entry.is_same then entry.outcome else 'key-reused' end;
      known_serials[entry.position] := entry.serial;
      known_codes[entry.position] := entry.pass_code;
    end loop;
  end if;

  if digests is not null then
    for entry in
      select input.position, earlier.partner_id, earlier.serial, earlier.pass_code
      from unnest(tickets, digests) with ordinality as input (ticket, digest, position)
      cross join lateral (
        select partner_id, serial, pass_code from registrations
        where shard_id = shard and event_id = wanted_events[input.ticket] and attendee_digest = input.digest
          and cancelled_at is null
        offset 0
      ) earlier
    loop
      if returns_existing[entry.position] is null or entry.partner_id <> partners[entry.position] then
        is_duplicate[entry.position] := true;
      elsif known[entry.position] is null then
        known[entry.position] := 'existing';
        known_serials[entry.position] := entry.serial;
        known_codes[entry.position] := entry.pass_code;
      end if;
    end loop;
  end if;
end $$;
