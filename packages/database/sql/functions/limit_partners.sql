-- Computes how many seats each partner may take in a batch, for each ticket on which it has an allocation or
-- wants to hold seats. The caller has locked the tickets, so no other transaction takes their seats. A
-- partner can hold its share of a ticket ("hold_percent"; null: no limit), at least four seats, and all seats
-- that are reserved for it. Returns
--
--   limit_indexes     by position of the registration: an index into the next arrays. Null: no limit
--   limited_tickets, limited_partners
--   own_left          the seats that are left of those reserved for the partner
--   caps_left         how many more seats it may take, and
--   holds_left        how many more it may hold
--   hold_limits       how many it may hold altogether
--   limited_seats     how many it wants now
--   are_limits_kept   no partner wants more than it may take and hold
--
-- The first limit is for everybody else: none. "held_*" say how many seats the partners hold now.
create or replace function limit_partners(
  shard integer, wanted_tickets integer[], allocated integer[], capacities integer[], hold_percent integer,
  tickets integer[], partners integer[], held_seconds integer[],
  held_tickets integer[], held_partners integer[], held_numbers integer[],
  out limit_indexes integer[], out limited_tickets integer[], out limited_partners integer[],
  out own_left integer[], out caps_left integer[], out holds_left integer[], out hold_limits integer[],
  out limited_seats integer[], out are_limits_kept boolean
) returns record language plpgsql
as $$
#variable_conflict use_column
declare
  unlimited constant integer := 2147483647;
  entry record;
begin
  limited_tickets := '{0}';
  limited_partners := '{0}';
  own_left := '{0}';
  caps_left := array[unlimited];
  holds_left := array[unlimited];
  hold_limits := array[unlimited];
  limited_seats := '{0}';
  are_limits_kept := true;
  for entry in
    select owner.*, greatest(a.reserved - a.taken, 0) as own, coalesce(a.cap - a.taken, unlimited) as most,
      case when hold_percent is null then unlimited
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
      select coalesce(sum(number), 0) as seats
      from unnest(held_tickets, held_partners, held_numbers) as _ (ticket, partner, number)
      where owner.holds > 0 and ticket = wanted_tickets[owner.ticket] and partner = owner.partner_id
    ) held
  loop
    limited_tickets := limited_tickets || wanted_tickets[entry.ticket];
    limited_partners := limited_partners || entry.partner_id;
    own_left := own_left || entry.own;
    caps_left := caps_left || entry.most;
    holds_left := holds_left || entry.hold_limit - entry.held;
    hold_limits := hold_limits || entry.hold_limit;
    limited_seats := limited_seats || cardinality(entry.positions);
    are_limits_kept := are_limits_kept and cardinality(entry.positions) <= entry.most
      and entry.holds <= entry.hold_limit - entry.held;
    for i in 1 .. cardinality(entry.positions) loop
      limit_indexes[entry.positions[i]] := cardinality(own_left);
    end loop;
  end loop;
end $$;
