-- Cancels registrations of these tickets: frees their seats, and records the changes for finalize_batches.
-- "reason" is 'cancelled', 'left' or 'expired'. Skips rows that another transaction has cancelled, and with
-- 'expired' also those that it has confirmed ("by_operator": see record_changes). Returns the number of
-- cancelled registrations. Seats for which somebody waits are offered to them ("hold_percent": see
-- serve_waiting). It never locks the journal head, because a long finalization must not keep tickets locked.
create or replace function release_registrations(
  shard integer, due bigint[], due_tickets integer[], reason text, hold_percent integer,
  by_operator boolean default null
) returns integer
language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  entry record;
  -- By registration that this call cancels.
  released bigint[];
  tickets_of integer[];
  partners_of integer[];
  holds_of uuid[];
  -- Offers of waiting lists that end.
  ended bigint[];
  -- A ticket has allocations.
  is_allocated boolean;
  -- Tickets for which somebody waits.
  waited_for integer[];
begin
  -- In id order, as reserve_batch locks them.
  select bool_or(allocated), coalesce(array_agg(id) filter (where waiting > 0), '{}')
  from (
    select id, allocated, waiting from tickets
    where shard_id = shard and id = any(due_tickets) order by id for no key update
  ) locked
  into is_allocated, waited_for;
  with gone as (
    update registrations set cancelled_at = now()
    where shard_id = shard and serial = any(due) and cancelled_at is null
      and (reason <> 'expired' or held_until <= now())
    returning serial, ticket_id, partner_id, hold_id
  )
  select array_agg(serial), array_agg(ticket_id), array_agg(partner_id),
    array_agg(hold_id) filter (where hold_id is not null)
  from gone into released, tickets_of, partners_of, holds_of;
  perform record_changes(shard, 'cancelled', released, by_operator);

  for entry in
    update tickets set taken = taken - freed.seats
    from (select ticket, count(*)::integer as seats from unnest(tickets_of) as ticket group by ticket) freed
    where shard_id = shard and id = freed.ticket
    returning id, taken + freed.seats = capacity as was_sold_out
  loop
    if entry.was_sold_out then
      insert into changes (shard_id, kind, ticket_id) values (shard, 'ticket', entry.id);
    end if;
  end loop;
  if is_allocated then
    update allocations set taken = taken - freed.seats
    from (
      select ticket, partner, count(*)::integer as seats
      from unnest(tickets_of, partners_of) as released (ticket, partner) group by ticket, partner
    ) freed
    where shard_id = shard and ticket_id = freed.ticket and partner_id = freed.partner;
  end if;
  -- An offer ends with its last seat. It has left if its partner released it, otherwise it has expired.
  if holds_of is not null then
    ended := array(
      select e.serial from waiting_entries e
      where e.shard_id = shard and e.id = any(holds_of) and e.state = 'offered' and not exists (
        select from registrations r where r.shard_id = shard and r.hold_id = e.id and r.cancelled_at is null
      )
    );
    perform change_waiting(shard, case reason when 'left' then 'left' else 'expired' end, ended);
  end if;
  -- The seats go to those who wait, before anybody else can see them.
  for i in 1 .. cardinality(waited_for) loop
    perform serve_waiting(shard, waited_for[i], 1000, hold_percent);
  end loop;
  return coalesce(cardinality(released), 0);
end $$;
