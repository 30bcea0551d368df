-- Reserves the seats of a batch: one round trip, one transaction. Returns json:
--
--   outcomes   by position; null: all are registered
--   serials    by position: the seats granted by this call; null: all, and their serials follow "first". An older API does
--              not know "first"
--   first      the lowest of them; null: none
--   replays    [position, serial, pass code] of registrations that get their earlier answer again, or whose attendee
--              has a seat already ('existing'); serial and pass code are null without a seat
--   at         when the seats were granted
--   limits     [position, seats] of registrations that got 'hold-limit': how many seats the partner can hold; null: none
--   expires    by position: when the hold ends; null: no basket
--
-- Registrations are arrays by position. "tickets" are indexes into the wanted tickets, which are distinct and in id
-- order. A call is the range from its first to its last position; single calls without a key are not listed. If several
-- registrations name the same attendee, "repeats" is the position of the first; with "returns_existing" the later ones
-- get its seat. Arrays that no registration of the batch needs (calls, digests, held seats) are null. A partner can
-- hold "hold_percent" of a ticket; null: no limit. A hold ends at the latest with the sale of its tickets.
--
-- A caller that lost its connection calls again with the same batch id and "is_repeat", and gets the answer of its
-- first call. The repeat locks the tickets first, and so waits for a call that still runs. Only then it looks for the
-- batch. If there is none it reserves, and it inserts a batch row even without a seat: a first call that runs later
-- fails on the primary key and changes nothing.
--
-- Each step is a separate statement, because Citus cannot plan them as one. Arrays pass values to the next step, which
-- is also cheaper on Postgres. Locks are taken in one order: tickets by id, then attendees, then keys, each sorted. So
-- two batches can never deadlock.
create or replace function reserve_batch(
  shard integer, batch uuid, is_repeat boolean, lock_within_ms integer, relay_after interval, remembered_for interval,
  wanted_tickets integer[], wanted_events integer[], wanted_seats integer[],
  call_firsts integer[], call_lasts integer[], call_all boolean[], call_keys text[], call_fingerprints uuid[],
  tickets integer[], partners integer[], pass_codes bigint[], digests uuid[], returns_existing boolean[], repeats integer[],
  held_seconds integer[],
  full_names text[], email_addresses text[], phone_numbers text[], genders text[], tables_or_seats text[],
  extra_data_1 text[], extra_data_2 text[], hold_percent integer default null,
  hold_ids uuid[] default null, partner_references text[] default null, knows_first boolean default false
) returns json language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  size constant integer := cardinality(tickets);
  -- By wanted ticket. Null: it does not exist. Negative: it is not on sale.
  seats_left integer[] := array_fill(null::integer, array[cardinality(wanted_tickets)]);
  -- The locked tickets, and by wanted ticket their capacities.
  locked integer[];
  capacities integer[];
  -- By wanted ticket: the end of its sale.
  sale_ends timestamptz[];
  -- By position: when the hold ends.
  expiries timestamptz[];
  -- By position: the earlier answer, or 'existing' if the attendee gets its first seat again. Null: none.
  known text[];
  -- By position: the serial and pass code of an earlier answer, or of the attendee's first seat.
  known_serials bigint[];
  known_codes bigint[];
  -- By position: the attendee is registered already.
  is_duplicate boolean[];
  outcomes text[];
  -- By position: the serial of a seat that is granted now.
  granted bigint[];
  -- By wanted ticket: number of seats granted.
  sold integer[] := array_fill(0, array[cardinality(wanted_tickets)]);
  seats_granted integer;
  -- All wanted tickets have seats for all registrations, and no partner reaches a limit.
  seats_suffice boolean := true;
  -- By position of the first registration of an attendee: the position that has the seat.
  attending integer[];
  -- By position: the position in this batch whose seat it shares.
  same_as integer[];
  -- By position: the serials to store with the idempotency keys. Null: the granted ones.
  remembered bigint[];
  -- The registration of the current step, and its call.
  outcome text;
  ticket integer;
  next_call integer := 1;
  is_refused boolean;
  -- The ticket's counter is updated already.
  is_counted boolean := false;
  -- By wanted ticket: ticket and event in one number. They rise, so width_bucket finds one by halving.
  wanted_keys bigint[];
  answer json;
  first_serial bigint;
  last_serial bigint;
  -- Not all seats were granted, or their serials do not follow each other.
  has_gaps boolean;
  -- Null: the batch has several.
  only_event integer;
  only_partner integer;
  -- The events and partners of a batch with several, and its serials if they have gaps, in the order of the serials.
  their_events integer[];
  their_partners integer[];
  their_serials bigint[];
  replays bigint[] := '{}';
  -- The wanted tickets with allocations. Null: none.
  allocated integer[];
  -- By wanted ticket: seats that are reserved for partners and not taken.
  set_aside integer[];
  -- By position: an index into the next arrays. Null: the partner has no limit for the ticket.
  sellers integer[];
  seller integer;
  -- By ticket and partner with an allocation or a hold: its reserved seats that are left, how many more it may take and
  -- hold, and how many it takes now. The first element is for the others.
  own_left integer[];
  caps_left integer[];
  holds_left integer[];
  hold_limits integer[];
  -- [position, limit] of refused holds.
  limits integer[] := '{}';
  seller_tickets integer[];
  seller_partners integer[];
  seller_sold integer[];
  -- By position: it got a reserved seat.
  from_own boolean[];
  -- By ticket and partner of which seats are wanted: how many the partner holds.
  held_tickets integer[];
  held_partners integer[];
  held_seats_of integer[];
  -- A partner has an allocation.
  counts_sold boolean := false;
  entry record;
begin
  -- Local to this transaction, so that it works through a connection pooler.
  perform set_config('lock_timeout', lock_within_ms::text, true);

  if is_repeat then
    perform from tickets where shard_id = shard and id = any(wanted_tickets) order by id for no key update;
    select answer, first_serial, last_serial, created_at from batches where shard_id = shard and id = batch into entry;
    if found then
      -- Without a stored answer everybody got a seat. A cancellation may have emptied the list of serials in the row.
      return coalesce(entry.answer, json_build_object(
        'outcomes', null,
        'serials', array(
          select serial from registrations
          where shard_id = shard and serial between entry.first_serial and entry.last_serial and batch_id = batch
          order by position
        ),
        'replays', replays,
        'at', entry.created_at,
        'expires', case when hold_ids is not null then array(
          select nullif(held_until, 'infinity') from registrations
          where shard_id = shard and serial between entry.first_serial and entry.last_serial and batch_id = batch
          order by position
        ) end
      ));
    end if;
  end if;

  -- Answers to calls with a key. Looked up one by one: a planner without statistics would scan the whole table (offset 0).
  if call_keys is not null then
    for entry in
      select input.position, earlier.fingerprint = call.fingerprint as is_same,
        coalesce(earlier.outcomes[input.position - call.first + 1], 'registered') as outcome, r.serial, r.pass_code
      from unnest(call_firsts, call_lasts, call_keys, call_fingerprints) as call (first, last, key, fingerprint)
      cross join lateral (
        select * from idempotency_keys
        where shard_id = shard and partner_id = partners[call.first]
          and event_id = wanted_events[tickets[call.first]] and key = call.key
        offset 0
      ) earlier
      cross join generate_series(call.first, call.last) as input (position)
      left join lateral (
        select serial, pass_code from registrations
        where shard_id = shard and serial = earlier.serials[input.position - call.first + 1]
          and partner_id = earlier.partner_id and event_id = earlier.event_id
        offset 0
      ) r on true
      where earlier.created_at > now() - remembered_for
    loop
      known[entry.position] := case when entry.is_same then entry.outcome else 'key-reused' end;
      known_serials[entry.position] := entry.serial;
      known_codes[entry.position] := entry.pass_code;
    end loop;
  end if;

  -- Attendees that are registered already.
  if digests is not null then
    for entry in
      select input.position, earlier.partner_id, earlier.serial, earlier.pass_code
      from unnest(tickets, digests) with ordinality as input (ticket, digest, position)
      cross join lateral (
        select partner_id, serial, pass_code from registrations
        where shard_id = shard and event_id = wanted_events[input.ticket] and attendee_digest = input.digest
          and cancelled_at is null
        offset 0
      ) earlier
    loop
      if returns_existing[entry.position] is null or entry.partner_id <> partners[entry.position] then
        is_duplicate[entry.position] := true;
      elsif known[entry.position] is null then
        known[entry.position] := 'existing';
        known_serials[entry.position] := entry.serial;
        known_codes[entry.position] := entry.pass_code;
      end if;
    end loop;
  end if;

  -- The usual case: one ticket with seats for everybody.
  if cardinality(wanted_tickets) = 1 and held_seconds is null and known is null and is_duplicate is null
    and repeats is null
  then
    update tickets set taken = taken + size
    where shard_id = shard and id = wanted_tickets[1] and event_id = wanted_events[1]
      and capacity - taken >= size and not allocated and waiting = 0
      -- Citus refuses now() inside coalesce in an update.
      and active and (sale_starts_at is null or sale_starts_at <= now()) and (sale_ends_at is null or now() < sale_ends_at)
    returning capacity - taken + size as seats
    into entry;
    seats_left[1] := entry.seats;
    is_counted := entry.seats is not null;
  end if;

  -- Otherwise the tickets are locked in id order. The event is part of the key: with the id alone, a wrong event
  -- reference would lock another event's ticket.
  if not is_counted then
    wanted_keys := array(
      select ticket_id::bigint << 32 | event_id from unnest(wanted_tickets, wanted_events) as _ (ticket_id, event_id)
    );
    for entry in
      select id, allocated, capacity, sale_ends_at, case when waiting > 0 then 0 else capacity - taken end as seats,
        width_bucket(id::bigint << 32 | event_id, wanted_keys) as index,
        active and coalesce(sale_starts_at <= now(), true) and coalesce(now() < sale_ends_at, true) as on_sale
      from tickets
      where shard_id = shard and id = any(wanted_tickets)
        and wanted_keys[width_bucket(id::bigint << 32 | event_id, wanted_keys)] = id::bigint << 32 | event_id
      order by id
      for no key update
    loop
      capacities[entry.index] := entry.capacity;
      sale_ends[entry.index] := entry.sale_ends_at;
      locked := locked || entry.id;
      seats_left[entry.index] := case when entry.on_sale then entry.seats else -1 end;
      if entry.allocated then
        allocated := allocated || entry.id;
      end if;
    end loop;
  end if;

  if allocated is not null then
    set_aside := array(
      select seats
      from unnest(wanted_tickets) with ordinality as wanted (id, index)
      cross join lateral (
        select coalesce(sum(greatest(reserved - taken, 0)), 0) as seats from allocations
        where shard_id = shard and ticket_id = wanted.id and coalesce(releases_at > now(), true)
          and wanted.id = any(allocated)
        offset 0
      ) a
      order by index
    );
  end if;
  if not is_counted then
    set_aside := coalesce(set_aside, array_fill(0, array[cardinality(wanted_tickets)]));
    for i in 1 .. cardinality(wanted_tickets) loop
      seats_suffice := seats_suffice and coalesce(seats_left[i] - set_aside[i] >= wanted_seats[i], false);
    end loop;
  end if;

  -- A partner can hold its share of a ticket, at least four seats, and all seats that are reserved for it. The tickets are
  -- locked, so no other transaction can add holds.
  if held_seconds is not null then
    -- Their sums are inserted again below.
    with gone as (
      delete from held_seats where shard_id = shard and ticket_id = any(locked) and partner_id = any(partners)
      returning ticket_id, partner_id, seats
    )
    select array_agg(ticket_id), array_agg(partner_id), array_agg(seats) from gone
    into held_tickets, held_partners, held_seats_of;
  end if;
  if allocated is not null or held_seconds is not null and hold_percent is not null then
    select '{0}', '{2147483647}', '{2147483647}', '{2147483647}', '{0}', '{0}', '{0}'
    into own_left, caps_left, holds_left, hold_limits, seller_tickets, seller_partners, seller_sold;
    for entry in
      select owner.*, greatest(a.reserved - a.taken, 0) as own, coalesce(a.cap - a.taken, 2147483647) as most,
        a.taken is not null as is_allocated,
        case when hold_percent is null then 2147483647
          else greatest(capacities[owner.ticket]::bigint * hold_percent / 100, 4, a.reserved)
        end::integer as hold_limit, held.seats::integer as held
      from (
        select ticket, partner_id, array_agg(position::integer) as positions, count(held_for) as holds
        from unnest(tickets, partners, held_seconds) with ordinality as input (ticket, partner_id, held_for, position)
        where wanted_tickets[ticket] = any(allocated) or held_for is not null
        group by ticket, partner_id
      ) owner
      left join lateral (
        select taken, cap, case when coalesce(releases_at > now(), true) then reserved else 0 end as reserved
        from allocations
        where shard_id = shard and ticket_id = wanted_tickets[owner.ticket] and partner_id = owner.partner_id
        offset 0
      ) a on true
      cross join lateral (
        select coalesce(sum(seats), 0) as seats from unnest(held_tickets, held_partners, held_seats_of) as _ (ticket, partner, seats)
        where owner.holds > 0 and ticket = wanted_tickets[owner.ticket] and partner = owner.partner_id
      ) held
    loop
      own_left := own_left || entry.own;
      caps_left := caps_left || entry.most;
      holds_left := holds_left || entry.hold_limit - entry.held;
      hold_limits := hold_limits || entry.hold_limit;
      seller_tickets := seller_tickets || wanted_tickets[entry.ticket];
      seller_partners := seller_partners || entry.partner_id;
      seller_sold := seller_sold || cardinality(entry.positions);
      seats_suffice := seats_suffice and cardinality(entry.positions) <= entry.most
        and entry.holds <= entry.hold_limit - entry.held;
      counts_sold := counts_sold or entry.is_allocated;
      for i in 1 .. cardinality(entry.positions) loop
        sellers[entry.positions[i]] := cardinality(own_left);
      end loop;
    end loop;
  end if;

  -- Seats are granted by position while they last. A bulk call in mode "all" returns its seats if one of them is
  -- refused.
  if is_counted or known is null and is_duplicate is null and repeats is null and seats_suffice then
    -- The usual case: everybody gets a seat.
    granted := array(select nextval('registrations_serial_seq') from generate_series(1, size));
    sold := wanted_seats;
    seats_granted := size;
    first_serial := granted[1];
    last_serial := granted[size];
  else
    seller_sold := array_fill(0, array[coalesce(cardinality(seller_sold), 1)]);
    for i in 1 .. size loop
      ticket := tickets[i];
      seller := coalesce(sellers[i], 1);
      outcome := case
        when known[i] is not null then known[i]
        when returns_existing[i] and partners[attending[repeats[i]]] = partners[i] then 'existing'
        when seats_left[ticket] is null then 'no-such-ticket'
        when seats_left[ticket] < 0 then 'not-on-sale'
        when is_duplicate[i] or attending[repeats[i]] is not null then 'duplicate'
        when seats_left[ticket] - case when own_left[seller] > 0 then 0 else set_aside[ticket] end <= sold[ticket]
          then 'sold-out'
        when caps_left[seller] <= 0 then 'allocation-sold'
        when held_seconds[i] is not null and holds_left[seller] <= 0 then 'hold-limit'
        else 'registered'
      end;
      outcomes[i] := outcome;
      if outcome = 'hold-limit' then
        limits := limits || array[array[i, hold_limits[seller]]];
      end if;
      if known[i] is null and outcome = 'registered' then
        sold[ticket] := sold[ticket] + 1;
        holds_left[seller] := holds_left[seller] - (held_seconds[i] is not null)::integer;
        attending[coalesce(repeats[i], i)] := i;
        seller_sold[seller] := seller_sold[seller] + 1;
        caps_left[seller] := caps_left[seller] - 1;
        if own_left[seller] > 0 then
          own_left[seller] := own_left[seller] - 1;
          set_aside[ticket] := set_aside[ticket] - 1;
          from_own[i] := true;
        end if;
      elsif outcome = 'existing' then
        same_as[i] := attending[repeats[i]];
      end if;
      is_refused := i <> call_firsts[next_call] and is_refused or outcome not in ('registered', 'existing');
      if i = call_lasts[next_call] then
        if is_refused and call_all[next_call] and coalesce(known[i], 'existing') = 'existing' then
          for j in call_firsts[next_call] .. i loop
            if outcomes[j] = 'registered' then
              sold[tickets[j]] := sold[tickets[j]] - 1;
              attending[coalesce(repeats[j], j)] := null;
              seller := coalesce(sellers[j], 1);
              seller_sold[seller] := seller_sold[seller] - 1;
              caps_left[seller] := caps_left[seller] + 1;
              holds_left[seller] := holds_left[seller] + (held_seconds[j] is not null)::integer;
              if from_own[j] then
                own_left[seller] := own_left[seller] + 1;
                set_aside[tickets[j]] := set_aside[tickets[j]] + 1;
              end if;
            end if;
            if outcomes[j] in ('registered', 'existing') then
              outcomes[j] := 'group-refused';
            end if;
          end loop;
        end if;
        next_call := next_call + 1;
      end if;
    end loop;
    granted := array_fill(null::bigint, array[size]);
    remembered := granted;
    for i in 1 .. size loop
      if known[i] is null and outcomes[i] = 'registered' then
        granted[i] := nextval('registrations_serial_seq');
        remembered[i] := granted[i];
      elsif outcomes[i] = 'existing' or known[i] not in ('existing', 'key-reused') then
        if known[i] is null then
          known_serials[i] := granted[same_as[i]];
          known_codes[i] := pass_codes[same_as[i]];
        end if;
        remembered[i] := known_serials[i];
        replays := replays || array[array[i, known_serials[i], known_codes[i]]];
      end if;
    end loop;
    select count(*), min(serial), max(serial) into seats_granted, first_serial, last_serial
    from unnest(granted) as _ (serial) where serial is not null;
  end if;

  if held_seconds is not null then
    expiries := array(
      select case when held_for is not null then least(
        now() + make_interval(secs => held_for),
        min(sale_ends[ticket]) over (partition by coalesce(hold_id::text, position::text))
      ) end
      from unnest(tickets, held_seconds, hold_ids) with ordinality as input (ticket, held_for, hold_id, position)
      order by position
    );
    insert into held_seats (shard_id, ticket_id, partner_id, seats)
    select shard, ticket, partner, sum(seats)
    from (
      select unnest(held_tickets) as ticket, unnest(held_partners) as partner, unnest(held_seats_of) as seats
      union all
      select wanted_tickets[index], partner, 1
      from unnest(tickets, partners, granted, held_seconds) as input (index, partner, serial, held_for)
      where serial is not null and held_for is not null
    ) held
    group by ticket, partner
    having sum(seats) <> 0;
  end if;
  has_gaps := seats_granted < size or last_serial - first_serial + 1 > size;
  answer := json_build_object(
    'outcomes', outcomes, 'serials', case when has_gaps or not knows_first then granted end, 'first', first_serial, 'replays', replays, 'at', now(),
    'limits', nullif(limits, '{}'), 'expires', case when hold_ids is not null then expiries end
  );

  if seats_granted > 0 then
    if not is_counted then
      update tickets set taken = taken + sold[width_bucket(id::bigint << 32 | event_id, wanted_keys)]
      where shard_id = shard and id = any(wanted_tickets)
        and wanted_keys[width_bucket(id::bigint << 32 | event_id, wanted_keys)] = id::bigint << 32 | event_id
        and sold[width_bucket(id::bigint << 32 | event_id, wanted_keys)] > 0;
    end if;

    if counts_sold then
      update allocations set taken = taken + input.sold
      from unnest(seller_tickets, seller_partners, seller_sold) as input (ticket, partner, sold)
      where shard_id = shard and ticket_id = input.ticket and partner_id = input.partner and input.sold > 0;
    end if;

    if digests is null and held_seconds is null and partner_references is null then
      insert into registrations (
        shard_id, serial, batch_id, position, ticket_id, event_id, partner_id, pass_code,
        full_name, email_address, phone_number, gender, table_or_seat, extra_data_1, extra_data_2
      )
      select shard, serial, batch, position, wanted_tickets[ticket], wanted_events[ticket], partner_id, pass_code,
        full_name, email_address, phone_number, gender, table_or_seat, extra_data_1, extra_data_2
      from (
        select unnest(granted) as serial, generate_series(1, size) as position, unnest(tickets) as ticket,
          unnest(partners) as partner_id, unnest(pass_codes) as pass_code, unnest(full_names) as full_name,
          unnest(email_addresses) as email_address, unnest(phone_numbers) as phone_number, unnest(genders) as gender,
          unnest(tables_or_seats) as table_or_seat, unnest(extra_data_1) as extra_data_1,
          unnest(extra_data_2) as extra_data_2
      ) input
      where serial is not null;
    else
      -- Sorted: a batch can wait for another one's attendee, and with one order for all batches no two wait for each
      -- other.
      insert into registrations (
        shard_id, serial, batch_id, position, ticket_id, event_id, partner_id, pass_code, attendee_digest, held_until,
        hold_id, partner_reference,
        full_name, email_address, phone_number, gender, table_or_seat, extra_data_1, extra_data_2
      )
      select shard, serial, batch, position, wanted_tickets[ticket], wanted_events[ticket], partner_id, pass_code, digest,
        expiry, hold_id, partner_reference,
        full_name, email_address, phone_number, gender, table_or_seat, extra_data_1, extra_data_2
      from unnest(
        granted, tickets, partners, pass_codes, digests, expiries, hold_ids, partner_references, full_names, email_addresses, phone_numbers, genders,
        tables_or_seats, extra_data_1, extra_data_2
      ) with ordinality as input (
        serial, ticket, partner_id, pass_code, digest, expiry, hold_id, partner_reference,
        full_name, email_address, phone_number, gender, table_or_seat, extra_data_1, extra_data_2, position
      )
      where serial is not null
      order by wanted_events[ticket], digest, position;
    end if;

    -- JSON numbers are exact up to here. Each server of a cluster starts its serials at 2^48 times its own number.
    if last_serial > 9007199254740991 then
      raise exception 'the serials are used up' using errcode = 'sequence_generator_limit_exceeded';
    end if;

    for ticket in 1 .. cardinality(wanted_tickets) loop
      if sold[ticket] > 0 and sold[ticket] = seats_left[ticket] then
        insert into changes (shard_id, kind, ticket_id) values (shard, 'ticket', wanted_tickets[ticket]);
      end if;
    end loop;
    -- A batch with held seats lists no events: finalization reads its registrations.
    if wanted_events[1] = all(wanted_events) and held_seconds is null then
      only_event := wanted_events[1];
    elsif seats_granted = size and held_seconds is null then
      their_events := array(select wanted_events[ticket] from unnest(tickets) as ticket);
    end if;
    if partners[1] = all(partners) then
      only_partner := partners[1];
    elsif seats_granted = size then
      their_partners := partners;
    end if;
    if seats_granted = size and has_gaps then
      their_serials := granted;
    end if;
    -- The outbox entry, and the proof that this batch committed.
    insert into batches (
      shard_id, id, size, first_serial, last_serial, event_id, partner_id, events, partners, serials, relay_at,
      answer
    ) values (
      shard, batch, seats_granted, first_serial, last_serial, only_event, only_partner, their_events, their_partners,
      their_serials, now() + relay_after, case when seats_granted < size then answer end
    );
  elsif is_repeat then
    insert into batches (
      shard_id, id, state, size, first_serial, last_serial, relay_at, finished_at, journal_offset, answer
    ) values (shard, batch, 'confirmed', 0, 0, 0, now(), now(), 0, answer);
  end if;

  -- Stores the answers of calls with a key, sorted like attendees. Outcomes null: all have a seat.
  if call_keys is not null then
    insert into idempotency_keys (shard_id, partner_id, event_id, key, fingerprint, outcomes, serials)
    select shard, partners[call.first], wanted_events[tickets[call.first]], call.key, call.fingerprint,
      array_replace(outcomes[call.first:call.last], 'existing', 'registered'),
      (coalesce(remembered, granted))[call.first:call.last]
    from unnest(call_firsts, call_lasts, call_keys, call_fingerprints) as call (first, last, key, fingerprint)
    where call.key is not null and coalesce(known[call.first], 'existing') = 'existing'
    order by 2, 3, 4;
  end if;
  return answer;
end $$;
