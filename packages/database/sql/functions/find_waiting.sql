-- Finds entries of waiting lists as their partners see them. Returns a json list with one value per input, in
-- order, or null if the partner has no such entry under the event. The places of a list are read once for all
-- of its entries. "places" limits what is counted: an entry further back has the place "places" + 1.
--
-- A function only because of the settings. The planner knows how many entries a list has on average, and not
-- this one: it would read and sort all entries of a long list, where the index has the first of them in
-- order.
create or replace function find_waiting(shard integer, ids uuid[], partners integer[], events integer[], places integer)
returns json language plpgsql
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
#variable_conflict use_column
begin
  return (
    with entry as materialized (
      select query.nth, e.*
      from unnest(ids, partners, events) with ordinality as query (id, partner, event, nth)
      left join lateral (
        -- Not *: the API cannot read contacts.
        select serial, id, ticket_id, seats, partner_reference, state, joined_at, expires_at, skipped
        from waiting_entries
        where shard_id = shard and id = query.id and partner_id = query.partner and event_id = query.event
        offset 0
      ) e on true
    ), place as materialized (
      select first.serial, first.place
      from (select distinct ticket_id from entry where state = 'waiting') list
      cross join lateral (
        select serial, row_number() over () as place
        from (
          -- Rows are compared, so that only the index of the first entries qualifies. The condition on the
          -- seats is the index's.
          select serial from waiting_entries
          where shard_id = shard and (ticket_id, serial) > (list.ticket_id, 0)
            and (ticket_id, serial) < (list.ticket_id + 1, 0)
            and state = 'waiting' and seats > 0
          order by ticket_id, serial limit places
        ) waiter
      ) first
    )
    select json_agg(case when entry.serial is not null then json_build_object(
      'entry', entry.id, 'organizedEventTicketID', entry.ticket_id, 'seats', entry.seats,
      'partnerReference', entry.partner_reference, 'state', entry.state,
      'position', case when entry.state = 'waiting' then coalesce(place.place, places + 1) end,
      'skipped', case when entry.state = 'waiting' then later.number else entry.skipped end,
      'joinedAt', entry.joined_at, 'expiresAt', case when entry.state = 'offered' then entry.expires_at end
    ) end order by entry.nth)
    from entry
    left join place on place.serial = entry.serial
    left join lateral (
      select count(*) as number
      from (
        select from waiting_entries
        where shard_id = shard and (ticket_id, serial) > (entry.ticket_id, entry.serial)
          and (ticket_id, serial) < (entry.ticket_id + 1, 0) and offered_at is not null and entry.state = 'waiting'
        order by ticket_id, serial limit places
      ) served
    ) later on true
  );
end $$;
