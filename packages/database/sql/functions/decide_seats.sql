-- Decides a batch by position: seats are granted while they last. A bulk call in mode "all" returns its seats
-- if one of them is refused. Reads and writes no table: "known" and "is_duplicate" are explained in
-- find_earlier, "seats_left" and "set_aside" in lock_tickets, "limit_indexes" and what is left of the limits
-- in limit_partners. Returns
--
--   outcomes       by position
--   same_as        by position: the position whose seat an 'existing' attendee of this batch shares
--   sold           by wanted ticket: the number of granted seats
--   limited_seats  by limit: the same
create or replace function decide_seats(
  shard integer, tickets integer[], partners integer[], call_firsts integer[], call_lasts integer[], call_all boolean[],
  returns_existing boolean[], repeats integer[], held_seconds integer[], known text[], is_duplicate boolean[],
  seats_left integer[], set_aside integer[],
  limit_indexes integer[], own_left integer[], caps_left integer[], holds_left integer[],
  out outcomes text[], out same_as integer[], out sold integer[], out limited_seats integer[]
) returns record language plpgsql
as $$
declare
  -- By position of the first registration of an attendee: the position that has the seat.
  attending integer[];
  -- By position: it got a seat that is reserved for its partner.
  from_own boolean[];
  ticket integer;
  -- The limit of the registration.
  i_limit integer;
  outcome text;
  next_call integer := 1;
  is_refused boolean;
begin
  sold := array_fill(0, array[cardinality(seats_left)]);
  limited_seats := array_fill(0, array[coalesce(cardinality(own_left), 1)]);
  for i in 1 .. cardinality(tickets) loop
    ticket := tickets[i];
    i_limit := coalesce(limit_indexes[i], 1);
    outcome := case
      when known[i] is not null then known[i]
      when returns_existing[i] and partners[attending[repeats[i]]] = partners[i] then 'existing'
      when seats_left[ticket] is null then 'no-such-ticket'
      when seats_left[ticket] < 0 then 'not-on-sale'
      when is_duplicate[i] or attending[repeats[i]] is not null then 'duplicate'
      when seats_left[ticket] - case when own_left[i_limit] > 0 then 0 else set_aside[ticket] end <= sold[ticket]
        then 'sold-out'
      when caps_left[i_limit] <= 0 then 'allocation-sold'
      when held_seconds[i] is not null and holds_left[i_limit] <= 0 then 'hold-limit'
      else 'registered'
    end;
    outcomes[i] := outcome;
    if known[i] is null and outcome = 'registered' then
      attending[coalesce(repeats[i], i)] := i;
      sold[ticket] := sold[ticket] + 1;
      limited_seats[i_limit] := limited_seats[i_limit] + 1;
      caps_left[i_limit] := caps_left[i_limit] - 1;
      holds_left[i_limit] := holds_left[i_limit] - (held_seconds[i] is not null)::integer;
      if own_left[i_limit] > 0 then
        own_left[i_limit] := own_left[i_limit] - 1;
        set_aside[ticket] := set_aside[ticket] - 1;
        from_own[i] := true;
      end if;
    elsif outcome = 'existing' then
      same_as[i] := attending[repeats[i]];
    end if;

    continue when call_firsts is null;
    is_refused := i <> call_firsts[next_call] and is_refused or outcome not in ('registered', 'existing');
    continue when i is distinct from call_lasts[next_call];
    if is_refused and call_all[next_call] and coalesce(known[i], 'existing') = 'existing' then
      for j in call_firsts[next_call] .. i loop
        if outcomes[j] = 'registered' then
          ticket := tickets[j];
          i_limit := coalesce(limit_indexes[j], 1);
          attending[coalesce(repeats[j], j)] := null;
          sold[ticket] := sold[ticket] - 1;
          limited_seats[i_limit] := limited_seats[i_limit] - 1;
          caps_left[i_limit] := caps_left[i_limit] + 1;
          holds_left[i_limit] := holds_left[i_limit] + (held_seconds[j] is not null)::integer;
          if from_own[j] then
            own_left[i_limit] := own_left[i_limit] + 1;
            set_aside[ticket] := set_aside[ticket] + 1;
          end if;
        end if;
        if outcomes[j] in ('registered', 'existing') then
          outcomes[j] := 'group-refused';
        end if;
      end loop;
    end if;
    next_call := next_call + 1;
  end loop;
end $$;
