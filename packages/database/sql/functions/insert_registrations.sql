-- Inserts the registrations of a batch with attendees that may register once, holds, or references of
-- partners. "granted" is null where no seat is granted. Sorted by attendee: a batch can wait for another
-- one's attendee, and with one order for all batches no two wait for each other.
create or replace function insert_registrations(
  shard integer, batch uuid, wanted_tickets integer[], wanted_events integer[], granted bigint[], tickets integer[],
  partners integer[], pass_codes bigint[], digests uuid[], expiries timestamptz[], hold_ids uuid[],
  partner_references text[], full_names text[], email_addresses text[], phone_numbers text[], genders text[],
  tables_or_seats text[], extra_data_1 text[], extra_data_2 text[]
) returns void language plpgsql
as $$
#variable_conflict use_column
begin
  insert into registrations (
    shard_id, serial, batch_id, position, ticket_id, event_id, partner_id, pass_code, attendee_digest, held_until,
    hold_id, partner_reference, full_name, email_address, phone_number, gender, table_or_seat, extra_data_1,
    extra_data_2
  )
  select shard, serial, batch, position, wanted_tickets[ticket], wanted_events[ticket], partner_id, pass_code, digest,
    expiry, hold_id, partner_reference, full_name, email_address, phone_number, gender, table_or_seat, extra_data_1,
    extra_data_2
  from (
    select unnest(granted) as serial, generate_series(1, cardinality(granted)) as position, unnest(tickets) as ticket,
      unnest(partners) as partner_id, unnest(pass_codes) as pass_code, unnest(digests) as digest,
      unnest(expiries) as expiry, unnest(hold_ids) as hold_id, unnest(partner_references) as partner_reference,
      unnest(full_names) as full_name, unnest(email_addresses) as email_address,
      unnest(phone_numbers) as phone_number, unnest(genders) as gender, unnest(tables_or_seats) as table_or_seat,
      unnest(extra_data_1) as extra_data_1, unnest(extra_data_2) as extra_data_2
  ) input
  where serial is not null
  order by wanted_events[ticket], digest, position;
end $$;
