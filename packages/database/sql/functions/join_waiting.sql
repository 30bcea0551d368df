-- Puts entries on the waiting lists of tickets, list by list. "calls" is a json list. Returns a json list in its order:
--
--   outcome   'joined' (also if the call with this id, or the same call with its key, was made before: then the id is
--             that of the first entry), 'key-reused', 'no-such-ticket', 'not-on-sale', 'no-list', 'too-many' (more
--             seats than the ticket has), 'not-sold-out', or 'list-limit' (entries of the partner wait for as many
--             seats as the ticket has)
--   id        of the entry
--   place     of the entry in its list, from 1. Null: the list was served meanwhile, or the entry is not new.
--   at        when it joined
--
-- Runs as the owner, because the API cannot read contacts. "hold_percent": see serve_waiting.
create or replace function join_waiting(
  shard integer, lock_within_ms integer, calls json, hold_percent integer default null
) returns json
language plpgsql security definer set search_path from current
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  list record;
  seller record;
  call record;
  event_starts_at timestamptz;
  earlier waiting_entries;
  new_serial bigint;
  -- By position of the call.
  outcomes text[] := array_fill(null::text, array[json_array_length(calls)]);
  ids uuid[] := array_fill(null::uuid, array[json_array_length(calls)]);
  places integer[] := array_fill(null::integer, array[json_array_length(calls)]);
  -- By new entry of a list.
  added bigint[];
  partners integer[];
  seats_added integer[];
  positions integer[];
  -- By partner that joins a list: for how many seats its entries wait.
  owners integer[];
  seats_of integer[];
  owner integer;
  owned integer;
begin
  perform set_config('lock_timeout', lock_within_ms::text, true);
  -- In id order, as reserve_batch locks the tickets.
  for list in
    select ticket, event from json_to_recordset(calls) as input (ticket integer, event integer)
    group by ticket, event order by ticket, event
  loop
    select starts_at into event_starts_at from events where id = list.event;
    select offer_hours is not null and coalesce(least(waiting_closes_at, event_starts_at) > now(), true) as has_list,
      capacity,
      capacity - taken as free, waiting,
      active and coalesce(sale_starts_at <= now(), true) and coalesce(now() < sale_ends_at, true) as on_sale
    from tickets where shard_id = shard and id = list.ticket and event_id = list.event for no key update
    into seller;
    added := '{}';
    partners := '{}';
    seats_added := '{}';
    positions := '{}';
    owners := '{}';
    seats_of := '{}';
    for call in
      select * from json_to_recordset(calls) as input (
        position integer, id uuid, ticket integer, event integer, partner integer, seats integer,
        name text, address text,
        reference text, key text
      )
      where ticket = list.ticket and event = list.event order by position
    loop
      -- The ticket is locked, so the first call with the key is over.
      select * into earlier from waiting_entries where shard_id = shard and id = call.id;
      if not found then
        select * into earlier from waiting_entries
        where shard_id = shard and event_id = call.event and partner_id = call.partner and key = call.key;
      end if;
      ids[call.position] := earlier.id;
      owner := array_position(owners, call.partner);
      if owner is null then
        owners := owners || call.partner;
        owner := cardinality(owners);
        -- Citus cannot parse an assignment to an element that reads a table.
        select seats into owned from waiting_partners
        where shard_id = shard and ticket_id = list.ticket and partner_id = call.partner;
        seats_of[owner] := coalesce(owned, 0);
      end if;
      outcomes[call.position] := case
        when (
          earlier.ticket_id, earlier.seats::integer, earlier.full_name, earlier.email_address, earlier.partner_reference
        )
          is not distinct from (call.ticket, call.seats, call.name, call.address, call.reference) then 'joined'
        when earlier.id is not null then 'key-reused'
        when seller.has_list is null then 'no-such-ticket'
        when not seller.on_sale then 'not-on-sale'
        when not seller.has_list then 'no-list'
        when call.seats > seller.capacity then 'too-many'
        when seller.free > 0 and seller.waiting + cardinality(added) = 0 then 'not-sold-out'
        when seats_of[owner] + call.seats > seller.capacity then 'list-limit'
      end;
      continue when outcomes[call.position] is not null;
      new_serial := nextval('registrations_serial_seq');
      insert into waiting_entries (
        shard_id, serial, id, event_id, ticket_id, partner_id, seats, full_name, email_address, partner_reference, key
      ) values (
        shard, new_serial, call.id, call.event, call.ticket, call.partner, call.seats, call.name, call.address,
        call.reference, call.key
      )
      -- Another transaction uses the key for another ticket.
      on conflict do nothing;
      outcomes[call.position] := case when found then 'joined' else 'key-reused' end;
      if found then
        ids[call.position] := call.id;
        added := added || new_serial;
        partners := partners || call.partner;
        seats_added := seats_added || call.seats;
        seats_of[owner] := seats_of[owner] + call.seats;
        positions := positions || call.position;
      end if;
    end loop;
    continue when added = '{}';
    update tickets set waiting = waiting + cardinality(added) where shard_id = shard and id = list.ticket;
    insert into waiting_partners (shard_id, ticket_id, partner_id, entries, seats)
    select shard, list.ticket, partner, count(*), sum(seats)
    from unnest(partners, seats_added) as entry (partner, seats)
    group by partner
    on conflict (shard_id, ticket_id, partner_id) do update
    set entries = waiting_partners.entries + excluded.entries, seats = waiting_partners.seats + excluded.seats;
    insert into changes (shard_id, kind, event_id, partner_id, serials)
    select shard, 'waiting.joined', list.event, partner, array_agg(serial)
    from unnest(added, partners) as entry (serial, partner)
    group by partner;
    -- Seats can be free that are too few for the entries before.
    if serve_waiting(shard, list.ticket, cardinality(added), hold_percent) = 0 then
      for i in 1 .. cardinality(added) loop
        places[positions[i]] := seller.waiting + i;
      end loop;
    end if;
  end loop;
  return (
    select json_agg(json_build_object('outcome', outcome, 'id', id, 'place', place, 'at', now()) order by position)
    from unnest(outcomes, ids, places) with ordinality as result (outcome, id, place, position)
  );
end $$;
