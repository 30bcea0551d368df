-- Cancels registrations of these tickets: frees their seats, and records the changes for finalize_batches. Skips rows
-- that another transaction has cancelled, and with "only_expired" also those that it has confirmed. Returns the number
-- of cancelled registrations. Only change_registrations and expire_holds call it. It never locks the journal head,
-- because a long finalization must not keep tickets locked.
create or replace function release_registrations(
  shard integer, due bigint[], due_tickets integer[], only_expired boolean
) returns integer
language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  entry record;
  -- By registration that this call cancels.
  released bigint[] := '{}';
  tickets_of integer[];
  partners_of integer[];
  -- A ticket has allocations.
  is_allocated boolean := false;
begin
  -- In id order, as reserve_batch locks them.
  for entry in
    select allocated from tickets where shard_id = shard and id = any(due_tickets) order by id for no key update
  loop
    is_allocated := is_allocated or entry.allocated;
  end loop;
  for entry in
    update registrations set cancelled_at = now()
    where shard_id = shard and serial = any(due) and cancelled_at is null and (not only_expired or held_until <= now())
    returning serial, ticket_id, partner_id
  loop
    released := released || entry.serial;
    tickets_of := tickets_of || entry.ticket_id;
    partners_of := partners_of || entry.partner_id;
  end loop;
  perform record_changes(shard, 'cancelled', released);

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
  return cardinality(released);
end $$;
