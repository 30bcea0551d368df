-- Moves entries of waiting lists to another state, and records the changes for finalize_batches. The caller
-- has locked the tickets of waiting entries. A ticket for which nobody waits any more is on sale again. An
-- entry that stops to wait keeps how many later entries got an offer first, at most 1,000 of them.
create or replace function change_waiting(
  shard integer, new_state text, changed bigint[], expiry timestamptz default null
) returns void
language plpgsql
set enable_seqscan = off
set enable_sort = off
as $$
#variable_conflict use_column
declare
  -- Not now(): a transaction that began earlier can get the lock of the ticket later.
  changed_at constant timestamptz := clock_timestamp();
  entries bigint[];
  events integer[];
  partners integer[];
  -- By entry that waits until now.
  waiters bigint[];
  tickets_left integer[];
  partners_left integer[];
  seats_left integer[];
  skips integer[];
  entry record;
begin
  select array_agg(e.serial), array_agg(event_id), array_agg(partner_id),
    array_agg(e.serial) filter (where state = 'waiting'),
    array_agg(ticket_id) filter (where state = 'waiting'), array_agg(partner_id) filter (where state = 'waiting'),
    array_agg(seats) filter (where state = 'waiting')
  into entries, events, partners, waiters, tickets_left, partners_left, seats_left
  from unnest(changed) as input (serial)
  cross join lateral (
    select serial, event_id, partner_id, ticket_id, state, seats from waiting_entries
    where shard_id = shard and serial = input.serial offset 0
  ) e;
  if entries is null then
    return;
  end if;
  skips := array(
    select later.number from unnest(waiters, tickets_left) with ordinality as waiter (serial, ticket, position)
    cross join lateral (
      select count(*)::integer as number from (
        select from waiting_entries
        -- Rows are compared and in order, so that only the index of served entries qualifies.
        where shard_id = shard and (ticket_id, serial) > (waiter.ticket, waiter.serial)
          and (ticket_id, serial) < (waiter.ticket + 1, 0) and offered_at is not null
        order by ticket_id, serial limit 1000
      ) served
    ) later
    order by position
  );
  update waiting_entries
  set state = new_state, offered_at = case when new_state = 'offered' then changed_at else offered_at end,
    expires_at = coalesce(expiry, expires_at), ended_at = case when new_state <> 'offered' then changed_at end
  where shard_id = shard and serial = any(changed);
  -- Usually nobody was skipped.
  if 0 < any(skips) then
    update waiting_entries e set skipped = waiter.skipped
    from unnest(waiters, skips) as waiter (serial, skipped)
    where e.shard_id = shard and e.serial = waiter.serial and waiter.skipped > 0;
  end if;
  if waiters is not null then
    update waiting_partners w set entries = w.entries - gone.entries, seats = w.seats - gone.seats
    from (
      select ticket, partner, count(*)::integer as entries, sum(seats)::integer as seats
      from unnest(tickets_left, partners_left, seats_left) as waiter (ticket, partner, seats) group by ticket, partner
    ) gone
    where w.shard_id = shard and w.ticket_id = gone.ticket and w.partner_id = gone.partner;
    delete from waiting_partners
    where shard_id = shard and ticket_id = any(tickets_left) and partner_id = any(partners_left) and entries = 0;
  end if;
  for entry in
    update tickets set waiting = waiting - gone.number
    from (select ticket, count(*)::integer as number from unnest(tickets_left) as ticket group by ticket) gone
    where shard_id = shard and id = gone.ticket
    returning id, waiting = 0 and taken < capacity as reopens
  loop
    if entry.reopens then
      insert into changes (shard_id, kind, ticket_id) values (shard, 'ticket', entry.id);
    end if;
  end loop;
  -- Only the partner can leave, and it knows.
  if new_state <> 'left' then
    insert into changes (shard_id, kind, event_id, partner_id, serials)
    select shard, 'waiting.' || new_state, event_id, partner_id, array_agg(serial)
    from unnest(entries, events, partners) as entry (serial, event_id, partner_id)
    group by event_id, partner_id;
  end if;
end $$;
