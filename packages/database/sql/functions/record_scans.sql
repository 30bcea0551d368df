-- Records scans of a device, and decides their outcomes. Safe to repeat: a scan that is stored already keeps
-- its outcome. The caller has checked signatures and hashes, and has sorted the scans by registration, then
-- counter, so that two calls lock registrations in the same order. Returns json: the outcomes; or a problem,
-- with nothing stored: 'revoked', or 'forked' if another scan with the same counter, or with another history,
-- is stored. Locks the device, then the registrations and their seats (lock_seats). Runs as the owner,
-- because the API cannot read attendees.
--
-- A scan without a decision is a question, which is decided now. A scan with one was decided by the device.
-- "of" is an earlier scan of the device: the one that an 'undo' takes back, or the question that the device
-- has decided itself, when it got no answer.
create or replace function record_scans(
  shard integer, device integer, input json, first_counter bigint, highest bigint, skew bigint, valid_from timestamptz,
  valid_until timestamptz, call_signature bytea, call_sent_at text
) returns json
language plpgsql security definer set search_path from current
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  asked_at timestamptz;
  scanner devices;
  forked bigint;
  -- The time of the last scan before these.
  earliest timestamptz;
  named bigint[];
  scan record;
  recorded record;
  results json[] := '{}';
  stored integer := 0;
  admitted bigint[] := '{}';
  admitted_again bigint[] := '{}';
begin
  select * into scanner from devices where shard_id = shard and id = device for no key update;
  if scanner.revoked_at is not null then
    return json_build_object('problem', 'revoked');
  end if;
  -- After the lock, so that the times of two calls follow each other.
  asked_at := clock_timestamp();
  forked := find_fork(shard, device, input);
  if forked is not null then
    update devices set forked_counter = forked where shard_id = shard and id = device;
    return json_build_object('problem', 'forked', 'counter', forked);
  end if;
  -- Those of the scans, and of the scans that they undo or decide. Read before: a function in a statement on
  -- a shard cannot read shards.
  named := array(select serial from json_to_recordset(input) as i (serial bigint)) || array(
    select serial from json_to_recordset(input) as i ("of" bigint)
    cross join lateral (
      select serial from scans where shard_id = shard and device_id = device and counter = i."of" offset 0
    ) s
  );
  perform lock_seats(shard, named, scanner.event_id);
  -- A question that the device has decided itself has no time.
  select at into earliest from scans s
  where shard_id = shard and device_id = device and s.counter < first_counter and (
    decision is not null
    or outcome <> 'superseded'
      and not exists (select from json_to_recordset(input) as i ("of" bigint) where i."of" = s.counter)
  )
  order by s.counter desc limit 1;

  for scan in
    select value as fields, (value ->> 'counter')::bigint = highest as is_last from json_array_elements(input)
  loop
    select * into recorded from record_scan(
      shard, device, scanner.event_id, scanner.gates, scan.fields, asked_at, earliest, valid_from, valid_until,
      case when scan.is_last then call_signature end, case when scan.is_last then call_sent_at end
    );
    results := results || recorded.result;
    stored := stored + recorded.is_new::integer;
    if recorded.admission is not null then
      admitted := admitted || recorded.admission;
    end if;
    admitted_again := admitted_again || recorded.conflicts;
  end loop;
  if admitted || admitted_again <> '{}' then
    perform record_admissions(shard, scanner.event_id, admitted, admitted_again);
  end if;
  update devices
  set last_contact_at = asked_at, skew_ms = skew, received = received + stored,
    last_counter = greatest(last_counter, highest), signed_off_at = case when stored = 0 then signed_off_at end
  where shard_id = shard and id = device;
  return json_build_object('outcomes', array_to_json(results));
end $$;
