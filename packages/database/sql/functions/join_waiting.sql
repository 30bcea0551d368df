-- Puts an entry on the waiting list of a ticket. Returns json: the outcome, and the id of the entry. The outcome is 'joined' (also if the
-- key was used for the same call before: then the id is that of the first entry), 'key-reused', 'no-such-ticket', 'not-on-sale',
-- 'no-list', 'too-many' (more seats than the ticket has), or 'not-sold-out'. Runs as the owner, because the API cannot read contacts.
create or replace function join_waiting(
  shard integer, lock_within_ms integer, ticket integer, event integer, partner integer, entry_id uuid, wanted_seats integer,
  contact_name text, contact_address text, reference text, call_key text
) returns json language plpgsql security definer set search_path from current
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  new_serial bigint;
  refusal text;
  entry record;
  earlier waiting_entries;
begin
  perform set_config('lock_timeout', lock_within_ms::text, true);
  select offer_hours is not null and coalesce(waiting_closes_at > now(), true) as has_list, capacity, capacity - taken as free,
    waiting, active and coalesce(sale_starts_at <= now(), true) and coalesce(now() < sale_ends_at, true) as on_sale
  from tickets where shard_id = shard and id = ticket and event_id = event for no key update
  into entry;
  -- The ticket is locked, so the first call with the key is over.
  select * into earlier from waiting_entries
  where shard_id = shard and event_id = event and partner_id = partner and key = call_key;
  if found then
    return json_build_object('id', earlier.id, 'outcome', case
      when (earlier.ticket_id, earlier.seats::integer, earlier.full_name, earlier.email_address, earlier.partner_reference)
        is not distinct from (ticket, wanted_seats, contact_name, contact_address, reference) then 'joined'
      else 'key-reused' end);
  end if;
  refusal := case
    when entry is null then 'no-such-ticket'
    when not entry.on_sale then 'not-on-sale'
    when not entry.has_list then 'no-list'
    when wanted_seats > entry.capacity then 'too-many'
    when entry.free > 0 and entry.waiting = 0 then 'not-sold-out'
  end;
  if refusal is not null then
    return json_build_object('outcome', refusal);
  end if;

  new_serial := nextval('registrations_serial_seq');
  insert into waiting_entries (
    shard_id, serial, id, event_id, ticket_id, partner_id, seats, full_name, email_address, partner_reference, key
  ) values (
    shard, new_serial, entry_id, event, ticket, partner, wanted_seats, contact_name, contact_address, reference, call_key
  );
  update tickets set waiting = waiting + 1 where shard_id = shard and id = ticket;
  insert into changes (shard_id, kind, event_id, partner_id, serials)
  values (shard, 'waiting.joined', event, partner, array[new_serial]);
  -- Seats can be free that are too few for the entries before.
  perform serve_waiting(shard, ticket, 1);
  return json_build_object('outcome', 'joined', 'id', entry_id);
end $$;
