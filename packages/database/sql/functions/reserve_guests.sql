-- Reserves seats for the operator's guests by reserve_batch, which explains the arguments and the answer. With
-- "counted_seats", it only says what would become of them: it counts so many seats of each wanted ticket as
-- taken by guests before these, and stores nothing.
--
-- Runs as the owner: the console can reserve for the house partner alone, and changes no seats by itself. Guests
-- have neither holds nor idempotency keys, and get seats at any time.
create or replace function reserve_guests(
  shard integer, batch uuid, lock_within_ms integer, relay_after interval, event integer,
  wanted_tickets integer[], wanted_seats integer[], tickets integer[], pass_codes bigint[], digests uuid[],
  returns_existing boolean[], repeats integer[],
  full_names text[], email_addresses text[], phone_numbers text[], genders text[], tables_or_seats text[],
  extra_data_1 text[], extra_data_2 text[], partner_references text[], counted_seats integer[] default null
) returns json language plpgsql security definer set search_path from current
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  -- packages/database/src/schema/house-partner.ts has the same.
  house constant integer := 2147483646;
  ticket integer;
  counted integer;
  answer json;
begin
  perform set_config('lock_timeout', lock_within_ms::text, true);
  begin
    -- Locks the tickets in the order of reserve_batch.
    for i in 1 .. coalesce(cardinality(counted_seats), 0) loop
      ticket := wanted_tickets[i];
      counted := counted_seats[i];
      continue when counted = 0;
      update tickets set taken = least(capacity, taken + counted) where shard_id = shard and id = ticket;
      update allocations set taken = taken + counted
      where shard_id = shard and ticket_id = ticket and partner_id = house;
    end loop;
    answer := reserve_batch(
      shard, batch, false, lock_within_ms, relay_after, null, wanted_tickets,
      array_fill(event, array[cardinality(wanted_tickets)]), wanted_seats, null, null, null, null, null,
      tickets, array_fill(house, array[cardinality(tickets)]), pass_codes, digests, returns_existing, repeats, null,
      full_names, email_addresses, phone_numbers, genders, tables_or_seats, extra_data_1, extra_data_2,
      null, null, partner_references, true, true
    );
    if counted_seats is not null then
      -- Rolls back this block. The answer stays.
      raise exception 'a preview stores nothing' using errcode = 'FG001';
    end if;
  exception when sqlstate 'FG001' then
    null;
  end;
  return answer;
end $$;
