-- Offers the free seats of a ticket to the oldest waiting entries that they can serve completely, up to
-- "entry_limit" entries. An offer is a hold of seats without attendees, and counts for the share of the
-- ticket that a partner can hold ("hold_percent"): an entry whose partner is at its share keeps its place and
-- is skipped. A partner that holds nothing can get one entry of any size, so no entry waits for ever. An
-- offer ends at the latest with the sale, and with the start of the event. A ticket that was taken off sale
-- offers nothing. An entry whose partner has no access to the event any more expires. Returns the number of
-- entries. The caller has locked the ticket.
--
-- "hold_percent" null: the caller does not know the share. Nothing is offered, and the worker offers the
-- seats.
create or replace function serve_waiting(
  shard integer, ticket integer, entry_limit integer, hold_percent integer
) returns integer
language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  batch constant uuid := gen_random_uuid();
  free integer;
  expiry timestamptz;
  event integer;
  starts_at timestamptz;
  hold_limit integer;
  -- By partner with waiting entries: how many more seats it may hold.
  owners integer[];
  rooms integer[];
  owner integer;
  served bigint[] := '{}';
  lapsed bigint[] := '{}';
  -- By seat.
  seats_served bigint[] := '{}';
  holds uuid[] := '{}';
  partners integer[] := '{}';
  references_of text[] := '{}';
  entry record;
begin
  if hold_percent is null then
    return 0;
  end if;
  -- As in reserve_batch: a share is at least a usual basket.
  select capacity - taken, least(now() + make_interval(hours => offer_hours), sale_ends_at), event_id,
    greatest(capacity::bigint * hold_percent / 100, 4)
  into free, expiry, event, hold_limit from tickets
  where shard_id = shard and id = ticket and waiting > 0 and active
    and coalesce(least(waiting_closes_at, sale_ends_at) > now(), true);
  if expiry is null then
    return 0;
  end if;
  select e.starts_at into starts_at from events e where e.id = event;
  if starts_at <= now() then
    return 0;
  end if;
  expiry := least(expiry, starts_at);

  select array_agg(partner_id), array_agg(hold_limit - held) into owners, rooms
  from (
    select partner_id, coalesce((
      select sum(seats) from held_seats h
      where h.shard_id = shard and h.ticket_id = ticket and h.partner_id = w.partner_id
    ), 0) as held
    from waiting_partners w where w.shard_id = shard and w.ticket_id = ticket
  ) waiter;
  -- Each partner and size is read by itself: entries that cannot be served are not read.
  for entry in
    select e.*, exists (
      select from event_grants g join partners p on p.id = g.partner_id
      where g.partner_id = e.partner_id and g.event_id = event and p.disabled_at is null
    ) as has_access
    from unnest(owners, rooms) as waiter (partner_id, room)
    cross join lateral generate_series(
      1, least(free, case when room = hold_limit then 10 else least(room, 10) end)
    ) as size
    cross join lateral (
      select serial, id, partner_id, partner_reference, seats from waiting_entries
      where shard_id = shard and ticket_id = ticket and partner_id = waiter.partner_id and seats = size
        and state = 'waiting'
      order by serial limit least(entry_limit, greatest(room / size, 1))
    ) e
    order by serial limit entry_limit
  loop
    if not entry.has_access then
      lapsed := lapsed || entry.serial;
    end if;
    owner := array_position(owners, entry.partner_id);
    continue when entry.seats > free or not entry.has_access
      or entry.seats > rooms[owner] and rooms[owner] < hold_limit;
    free := free - entry.seats;
    rooms[owner] := rooms[owner] - entry.seats;
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
    shard_id, serial, batch_id, position, ticket_id, event_id, partner_id, pass_code, held_until, hold_id,
    partner_reference
  )
  -- The last 12 digits of such a UUID are random. A pass code has ten digits, the first not zero.
  select shard, serial, batch, position, ticket, event, partner_id,
    1000000000 + ('x' || right(gen_random_uuid()::text, 12))::bit(48)::bigint % 9000000000, expiry, hold_id,
    partner_reference
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
