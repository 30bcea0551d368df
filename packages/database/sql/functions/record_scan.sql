-- Records one scan of a device, and decides its outcome: see record_scans, which has locked the device and
-- the seat. "allowed_gates" are the gates of the device. A decision of the device gets a time after
-- "earliest" and before "asked_at". The signature of the call is stored with its last scan, otherwise null.
-- Returns
--
--   result     the outcome, as json
--   is_new     whether the scan was not stored before
--   admission  the serial of a new admission that counts; null: none
--   conflicts  the serials of the admissions that are conflicts from now on
create or replace function record_scan(
  shard integer, device integer, event integer, allowed_gates integer[], input json, asked_at timestamptz,
  earliest timestamptz, valid_from timestamptz, valid_until timestamptz, call_signature bytea, call_sent_at text,
  out result json, out is_new boolean, out admission bigint, out conflicts bigint[]
) returns record language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  scan record;
  gate gates;
  registered record;
  -- The open admission of the seat in the area of the gate.
  holder record;
  scan_at timestamptz;
  decided text;
  -- A later scan of the device takes this one back.
  is_taken_back boolean;
  -- The admission of an earlier scan that this one takes over.
  known_admission bigint;
  is_again boolean;
  new_conflicts bigint[];
  first json;
begin
  conflicts := '{}';
  select *, "of" as earlier_counter, direction = 'undo' as is_undo into scan from json_to_record(input) as i (
    counter bigint, hash bytea, previous bytea, "gateID" integer, direction text, "of" bigint, "scannedAt" timestamptz,
    latest timestamptz, "isTakenBack" boolean, decision text, serial bigint, ticket integer, code bigint, problem text
  );
  select outcome into decided from scans where shard_id = shard and device_id = device and counter = scan.counter;
  is_new := not found;
  if not is_new then
    result := json_build_object('counter', scan.counter, 'outcome', decided);
    return;
  end if;
  select * into gate from gates where shard_id = shard and id = scan."gateID" and event_id = event;
  select serial, partner_id, ticket_id, cancelled_at, full_name, coalesce(seat, serial) as seat into registered
  from registrations
  where shard_id = shard and serial = scan.serial and event_id = event
    and (ticket_id = scan.ticket or pass_code = scan.code) and coalesce(held_until = 'infinity', true);
  -- A question is asked now, after the wait for the locks. A decision was made after the scan before it, and
  -- not in the future.
  scan_at := case
    when scan.decision is null and not scan.is_undo then clock_timestamp()
    else greatest(earliest, least(asked_at, scan.latest)) end;
  is_taken_back := scan."isTakenBack" or exists (
    select from scans where shard_id = shard and device_id = device and of_counter = scan.counter
  );

  if scan.earlier_counter is not null then
    if scan.decision = 'admitted' and not is_taken_back then
      -- The server has admitted the pass, but its answer did not arrive.
      update admissions set counter = scan.counter, at = scan_at
      where shard_id = shard and device_id = device and counter = scan.earlier_counter
        and registration = registered.serial and undone_at is null
      returning serial into known_admission;
    end if;
    conflicts := undo_scan(shard, device, scan.earlier_counter, scan.is_undo, scan_at);
  end if;

  decided := case
    when is_taken_back then 'superseded'
    when known_admission is not null then 'admitted'
    when scan.is_undo then 'undone'
    when scan.decision not in ('admitted', 'exited') then scan.decision
    when scan.problem is not null then scan.problem
    when registered.serial is null then 'unknown'
    when gate.id is null or not gate.id = any(allowed_gates) then 'wrong-gate'
    -- Nobody is kept inside.
    when scan.direction = 'out' then 'exited'
    when not registered.ticket_id = any(gate.tickets) then 'wrong-gate'
    when scan_at < greatest(gate.opens_at, valid_from) then 'too-early'
    when scan_at >= least(gate.closes_at, valid_until) then 'too-late'
    when registered.cancelled_at <= scan_at then 'cancelled'
    else 'admitted' end;
  -- With the rule 'once', the open admission stays open after an exit.
  select at, gate_id, device_id into holder from admissions
  where shard_id = shard and seat = registered.seat and area = gate.area and is_open
    and known_admission is null and scan.direction = 'in';
  if decided = 'admitted' and scan.decision is null and holder.at is not null then
    decided := 'already-admitted';
  end if;

  insert into scans (
    shard_id, device_id, counter, event_id, hash, previous_hash, gate_id, area, serial, seat, direction, of_counter,
    scanned_at, at, received_at, decision, outcome, signature, sent_at
  ) values (
    shard, device, scan.counter, event, scan.hash, scan.previous, scan."gateID",
    gate.area, registered.serial, registered.seat, scan.direction, scan.earlier_counter,
    scan."scannedAt", scan_at, asked_at, scan.decision, decided, call_signature, call_sent_at
  );
  if decided in ('admitted', 'exited') then
    select * from admit_scan(
      shard, device, scan.counter, registered.partner_id, gate.entry_rule, holder.at is not null, known_admission
    )
    into admission, is_again, new_conflicts;
    conflicts := conflicts || new_conflicts;
    if is_again then
      decided := 'admitted-again';
    end if;
    if is_again or admission = known_admission then
      admission := null;
    end if;
  end if;

  if decided in ('already-admitted', 'admitted-again') then
    select json_build_object('at', holder.at, 'gate', g.name, 'device', d.name) into first
    from gates g, devices d
    where g.shard_id = shard and g.id = holder.gate_id and d.shard_id = shard and d.id = holder.device_id;
  end if;
  result := json_build_object(
    'counter', scan.counter, 'outcome', decided, 'first', first, 'ticketId', registered.ticket_id,
    'name', case when gate.shows_names and scan.decision is null then registered.full_name end
  );
end $$;
