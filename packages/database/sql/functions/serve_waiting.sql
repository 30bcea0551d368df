-- Offers the free seats of a ticket to the oldest waiting entries that they can serve completely, up to "most" entries.
-- An offer is a hold of seats without attendees. A ticket that was taken off sale offers nothing. An entry whose partner
-- has no access to the event any more expires. Returns the number of entries. The caller has locked the ticket.
create or replace function serve_waiting(shard integer, ticket integer, most integer) returns integer
language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  batch constant uuid := gen_random_uuid();
  free integer;
  expiry timestamptz;
  event integer;
  served bigint[] := '{}';
  lapsed bigint[] := '{}';
  -- By seat.
  seats_served bigint[] := '{}';
  holds uuid[] := '{}';
  partners integer[] := '{}';
  references_of text[] := '{}';
  entry record;
begin
  select capacity - taken, now() + make_interval(hours => offer_hours), event_id into free, expiry, event from tickets
  where shard_id = shard and id = ticket and waiting > 0 and active
    and coalesce(least(waiting_closes_at, sale_ends_at) > now(), true);
  if expiry is null then
    return 0;
  end if;
  -- Each size is read by itself: entries that need more than the free seats are not read.
  for entry in
    select e.*, exists (
      select from event_grants g join partners p on p.id = g.partner_id
      where g.partner_id = e.partner_id and g.event_id = event and p.disabled_at is null
    ) as has_access
    from generate_series(1, least(free, 10)) as size
    cross join lateral (
      select serial, id, partner_id, partner_reference, seats from waiting_entries
      where shard_id = shard and ticket_id = ticket and seats = size and state = 'waiting'
      order by serial limit most
    ) e
    order by serial limit most
  loop
    if not entry.has_access then
      lapsed := lapsed || entry.serial;
    end if;
    continue when entry.seats > free or not entry.has_access;
    free := free - entry.seats;
    served := served || entry.serial;
    for i in 1 .. entry.seats loop
      seats_served := seats_served || nextval('registrations_serial_seq');
      holds := holds || entry.id;
      partners := partners || entry.partner_id;
      references_of := references_of || entry.partner_reference::text;
    end loop;
  end loop;
  perform change_waiting(shard, 'expired', lapsed);
  if served = '{}' then
    return cardinality(lapsed);
  end if;

  update tickets set taken = taken + cardinality(seats_served) where shard_id = shard and id = ticket;
  insert into registrations (
    shard_id, serial, batch_id, position, ticket_id, event_id, partner_id, pass_code, held_until, hold_id, partner_reference
  )
  -- The last 12 digits of such a UUID are random. A pass code has ten digits, the first not zero.
  select shard, serial, batch, position, ticket, event, partner_id,
    1000000000 + ('x' || right(gen_random_uuid()::text, 12))::bit(48)::bigint % 9000000000, expiry, hold_id, partner_reference
  from unnest(seats_served, holds, partners, references_of) with ordinality
    as seat (serial, hold_id, partner_id, partner_reference, position);
  insert into held_seats (shard_id, ticket_id, partner_id, seats)
  select shard, ticket, partner, count(*) from unnest(partners) as partner group by partner;
  insert into batches (shard_id, id, size, first_serial, last_serial, partner_id, relay_at)
  values (
    shard, batch, cardinality(seats_served), seats_served[1], seats_served[cardinality(seats_served)],
    case when partners[1] = all(partners) then partners[1] end, now()
  );
  perform change_waiting(shard, 'offered', served, expiry);
  return cardinality(served) + cardinality(lapsed);
end $$;
