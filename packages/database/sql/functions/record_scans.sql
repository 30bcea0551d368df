-- Records scans of a device, and decides their outcomes. Safe to repeat: a scan that is stored already keeps its outcome. The caller has
-- checked signatures and hashes, and has sorted the scans by registration, then counter, so that two calls lock registrations in the same
-- order. Returns json: the outcomes; or a problem, with nothing stored: 'revoked', or 'forked' if another scan with the same counter, or
-- with another history, is stored. Runs as the owner, because the API cannot read attendees.
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
  gate gates;
  named bigint[];
  scan record;
  registered record;
  holder record;
  taken record;
  rule text;
  -- The time of the last scan before these.
  earliest timestamptz;
  scan_at timestamptz;
  result text;
  first json;
  is_taken_back boolean;
  admission bigint;
  conflicts bigint[];
  results json[] := '{}';
  stored integer := 0;
  admitted bigint[] := '{}';
  admitted_again bigint[] := '{}';
  forked bigint;
  -- By change for finalize_batches.
  kinds text[];
  serials bigint[];
  partners integer[];
begin
  select * into scanner from devices where shard_id = shard and id = device for no key update;
  if scanner.revoked_at is not null then
    return json_build_object('problem', 'revoked');
  end if;
  -- After the lock, so that the times of two calls follow each other.
  asked_at := clock_timestamp();
  select min(i.counter) into forked
  from json_to_recordset(input) as i (counter bigint, hash bytea, previous bytea)
  cross join lateral (
    select counter, hash, previous_hash from scans
    where shard_id = shard and device_id = device and counter between i.counter - 1 and i.counter + 1 offset 0
  ) s
  where s.counter = i.counter and s.hash <> i.hash
    or s.counter = i.counter - 1 and s.hash <> i.previous
    or s.counter = i.counter + 1 and s.previous_hash <> i.hash;
  if forked is not null then
    update devices set forked_counter = forked where shard_id = shard and id = device;
    return json_build_object('problem', 'forked', 'counter', forked);
  end if;
  -- Those of the scans, and of the scans that they undo or decide. Read before: a function in a statement on a shard cannot read shards.
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
    select * from json_to_recordset(input) as i (
      counter bigint, hash bytea, previous bytea, "gateID" integer, direction text, "of" bigint, "scannedAt" timestamptz,
      latest timestamptz, "isTakenBack" boolean, decision text, serial bigint, ticket integer, code bigint, problem text
    )
  loop
    select outcome into result from scans where shard_id = shard and device_id = device and counter = scan.counter;
    if found then
      results := results || json_build_object('counter', scan.counter, 'outcome', result);
      continue;
    end if;
    if gate.id is distinct from scan."gateID" then
      select * into gate from gates where shard_id = shard and id = scan."gateID" and event_id = scanner.event_id;
    end if;
    select serial, partner_id, ticket_id, cancelled_at, full_name, coalesce(seat, serial) as seat into registered
    from registrations
    where shard_id = shard and serial = scan.serial and event_id = scanner.event_id
      and (ticket_id = scan.ticket or pass_code = scan.code) and coalesce(held_until = 'infinity', true);
    -- A question is asked now, after the wait for the locks. A decision was made after the scan before it, and not in the future.
    scan_at := case
      when scan.decision is null and scan.direction <> 'undo' then clock_timestamp()
      else greatest(earliest, least(asked_at, scan.latest)) end;
    -- Undone, or decided by the device.
    is_taken_back := scan."isTakenBack" or exists (
      select from scans where shard_id = shard and device_id = device and of_counter = scan.counter
    );
    conflicts := '{}';
    if scan."of" is not null then
      if scan.decision = 'admitted' and not is_taken_back then
        -- The server has admitted the pass, but its answer did not arrive.
        update admissions set counter = scan.counter, at = scan_at
        where shard_id = shard and device_id = device and counter = scan."of" and registration = registered.serial
          and undone_at is null
        returning serial into admission;
      end if;
      -- By an undo, or because the device has decided the scan itself, when it got no answer.
      update scans
      set outcome = case
        when scan.direction <> 'undo' then 'superseded' when outcome = 'exited' then 'undone' else outcome end
      where shard_id = shard and device_id = device and counter = scan."of"
        and (scan.direction = 'undo' or decision is null)
      returning serial, seat, gate_id, area into taken;
      update admissions set undone_at = scan_at, is_open = false
      where shard_id = shard and device_id = device and counter = scan."of" and registration = taken.serial
        and undone_at is null;
      select entry_rule into rule from gates where shard_id = shard and id = taken.gate_id;
      if rule <> 'any' and taken.serial is not null then
        conflicts := settle_admissions(shard, taken.seat, taken.area, rule);
      end if;
    end if;
    result := case
      when is_taken_back then 'superseded'
      when admission is not null then 'admitted'
      when scan.direction = 'undo' then 'undone'
      when scan.decision not in ('admitted', 'exited') then scan.decision
      when scan.problem is not null then scan.problem
      when registered.serial is null then 'unknown'
      when gate.id is null or not gate.id = any(scanner.gates) then 'wrong-gate'
      -- Nobody is kept inside.
      when scan.direction = 'out' then 'exited'
      when not registered.ticket_id = any(gate.tickets) then 'wrong-gate'
      when scan_at < greatest(gate.opens_at, valid_from) then 'too-early'
      when scan_at >= least(gate.closes_at, valid_until) then 'too-late'
      when registered.cancelled_at <= scan_at then 'cancelled'
      else 'admitted' end;
    -- With the rule 'once', the open admission stays open after an exit.
    select a.at, a.gate_id, a.device_id into holder from admissions a
    where a.shard_id = shard and a.seat = registered.seat and a.area = gate.area and a.is_open
      and admission is null and scan.direction = 'in';
    if result = 'admitted' and scan.decision is null and holder.at is not null then
      result := 'already-admitted';
    end if;
    insert into scans (
      shard_id, device_id, counter, event_id, hash, previous_hash, gate_id, area, serial, seat, direction, of_counter,
      scanned_at, at, received_at, decision, outcome, signature, sent_at
    ) values (
      shard, device, scan.counter, scanner.event_id, scan.hash, scan.previous, scan."gateID",
      gate.area, registered.serial, registered.seat, scan.direction, scan."of",
      scan."scannedAt", scan_at, asked_at, scan.decision, result,
      case when scan.counter = highest then call_signature end, case when scan.counter = highest then call_sent_at end
    );
    stored := stored + 1;
    if result = 'admitted' and admission is null then
      insert into admissions (
        shard_id, event_id, partner_id, registration, seat, area, gate_id, device_id, counter, at, is_open
      ) values (
        shard, scanner.event_id, registered.partner_id, registered.serial, registered.seat, gate.area, gate.id, device,
        scan.counter, scan_at, holder.at is null and gate.entry_rule <> 'any'
      ) returning serial into admission;
      admitted := admitted || admission;
    end if;
    if gate.entry_rule = 'any' and result = 'exited' then
      update admissions set left_at = scan_at
      where shard_id = shard and seat = registered.seat and area = gate.area and left_at is null and at <= scan_at;
    end if;
    if gate.entry_rule <> 'any' and (result = 'exited' or result = 'admitted' and scan.decision is not null) then
      conflicts := conflicts || settle_admissions(shard, registered.seat, gate.area, gate.entry_rule);
    end if;
    if exists (select from admissions where shard_id = shard and serial = admission and again_of is not null) then
      result := 'admitted-again';
      admitted := array_remove(admitted, admission);
      update scans set outcome = result where shard_id = shard and device_id = device and counter = scan.counter;
    end if;
    admitted_again := admitted_again || conflicts;
    admission := null;
    first := null;
    if result in ('already-admitted', 'admitted-again') then
      select json_build_object('at', holder.at, 'gate', g.name, 'device', d.name) into first
      from gates g, devices d
      where g.shard_id = shard and g.id = holder.gate_id and d.shard_id = shard and d.id = holder.device_id;
    end if;
    results := results || json_build_object(
      'counter', scan.counter, 'outcome', result, 'first', first, 'ticketId', registered.ticket_id,
      'name', case when gate.shows_names and scan.decision is null then registered.full_name end
    );
  end loop;

  -- It reads and inserts in two statements: see record_changes.
  kinds := array_fill('admitted'::text, array[cardinality(admitted)])
    || array_fill('admitted_again'::text, array[cardinality(admitted_again)]);
  select array_agg(kind), array_agg(partner_id), array_agg(change.serial)
  from unnest(kinds, admitted || admitted_again) as change (kind, serial)
  cross join lateral (
    select partner_id from admissions where shard_id = shard and serial = change.serial offset 0
  ) a
  into kinds, partners, serials;
  insert into changes (shard_id, kind, event_id, partner_id, serials)
  select shard, kind, scanner.event_id, partner_id, array_agg(serial)
  from unnest(kinds, partners, serials) as change (kind, partner_id, serial)
  group by kind, partner_id order by kind;
  update devices
  set last_contact_at = asked_at, skew_ms = skew, received = received + stored, last_counter = greatest(last_counter, highest),
    signed_off_at = case when stored = 0 then signed_off_at end
  where shard_id = shard and id = device;
  return json_build_object('outcomes', array_to_json(results));
end $$;
