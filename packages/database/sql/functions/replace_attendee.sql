-- Gives the seat of a registration to another attendee: cancels the registration, and makes a new one in a
-- batch of its own. The seat stays taken. So the old pass is revoked, the new attendee gets a pass and an
-- e-mail, and the journal has both changes, as for any cancellation and registration. Returns json: the
-- outcome 'replaced', 'too-late', 'admitted' or 'duplicate', and the serial and pass code of the new
-- registration. Null: there is no such registration. A repeat with the same name and address gets the first
-- answer.
--
-- An admission belongs to the seat. So a partner cannot change the attendee after it; an operator can, and
-- the new pass counts as admitted. "by_operator" is null for a caller of the previous release, which does not
-- know 'admitted'.
--
-- Runs as the owner, because the API cannot read attendees. It locks no ticket, because the number of seats
-- stays.
create or replace function replace_attendee(
  shard integer, lock_within_ms integer, relay_after interval, batch uuid,
  old_serial bigint, partner integer, event integer, old_code bigint, deadline timestamptz,
  new_code bigint, digest uuid,
  new_name text, new_address text, new_phone text, new_gender text, new_seat text, new_extra_1 text, new_extra_2 text,
  by_operator boolean default null
) returns json language plpgsql security definer set search_path from current
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  old registrations;
  later registrations;
  new_serial bigint;
  seat_of bigint;
  was_admitted boolean;
begin
  perform set_config('lock_timeout', lock_within_ms::text, true);
  perform lock_seats(shard, array[old_serial]);
  select * into old from registrations
  where shard_id = shard and serial = old_serial and partner_id = partner and event_id = event and pass_code = old_code;
  if not found then
    return null;
  end if;
  seat_of := coalesce(old.seat, old_serial);
  was_admitted := exists (select from admissions where shard_id = shard and seat = seat_of and undone_at is null);
  if old.replaced_by is not null then
    select * into later from registrations where shard_id = shard and serial = old.replaced_by;
    if (later.full_name, later.email_address) is not distinct from (new_name, new_address) then
      return json_build_object(
        'outcome', 'replaced', 'serial', later.serial, 'passCode', later.pass_code, 'wasAdmitted', was_admitted
      );
    end if;
  end if;
  if old.cancelled_at is not null or old.held_until < 'infinity' or now() >= deadline then
    return json_build_object('outcome', 'too-late');
  elsif was_admitted and by_operator is not true then
    return json_build_object('outcome', case by_operator when false then 'admitted' else 'too-late' end);
  elsif exists (
    select from registrations
    where shard_id = shard and event_id = event and attendee_digest = digest and cancelled_at is null
      and serial <> old_serial
  ) then
    return json_build_object('outcome', 'duplicate');
  end if;

  new_serial := nextval('registrations_serial_seq');
  update registrations set cancelled_at = now(), replaced_by = new_serial
  where shard_id = shard and serial = old_serial;
  perform record_changes(shard, 'cancelled', array[old_serial]);
  insert into registrations (
    shard_id, serial, batch_id, position, ticket_id, event_id, partner_id, pass_code, attendee_digest, hold_id, seat,
    partner_reference, full_name, email_address, phone_number, gender, table_or_seat, extra_data_1, extra_data_2
  ) values (
    shard, new_serial, batch, 1, old.ticket_id, event, partner, new_code, digest, old.hold_id, seat_of,
    old.partner_reference, new_name, new_address, new_phone, new_gender, coalesce(new_seat, old.table_or_seat),
    new_extra_1, new_extra_2
  );
  insert into batches (shard_id, id, size, first_serial, last_serial, event_id, partner_id, relay_at)
  values (shard, batch, 1, new_serial, new_serial, event, partner, now() + relay_after);
  return json_build_object(
    'outcome', 'replaced', 'serial', new_serial, 'passCode', new_code, 'wasAdmitted', was_admitted
  );
end $$;
