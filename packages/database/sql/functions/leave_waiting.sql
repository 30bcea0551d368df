-- Takes entries of a partner off the waiting lists of an event: the one with this id, or up to "entry_limit"
-- if it is null, and then also forgets the keys of all entries. The seats of an open offer go to the next
-- entries ("hold_percent": see serve_waiting). Returns the number of entries that have left now.
create or replace function leave_waiting(
  shard integer, lock_within_ms integer, event integer, partner integer, entry_id uuid, entry_limit integer,
  hold_percent integer default null
) returns integer language plpgsql security definer set search_path from current
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  wanted bigint[];
  due_tickets integer[];
  waiting_ones bigint[];
  held bigint[];
begin
  perform set_config('lock_timeout', lock_within_ms::text, true);
  select array_agg(serial), array_agg(distinct ticket_id) into wanted, due_tickets
  from (
    select serial, ticket_id from waiting_entries
    where shard_id = shard and event_id = event and partner_id = partner and state in ('waiting', 'offered')
      and (entry_id is null or id = entry_id)
    limit entry_limit
  ) open;
  perform from tickets where shard_id = shard and id = any(due_tickets) order by id for no key update;
  -- The tickets are locked, so no entry gets an offer now.
  waiting_ones := array(
    select serial from waiting_entries where shard_id = shard and serial = any(wanted) and state = 'waiting'
  );
  -- The rows are locked, because the confirmation of an offer does not lock the ticket. A confirmed seat is
  -- kept.
  held := array(
    select r.serial from waiting_entries e
    join registrations r on r.shard_id = e.shard_id and r.hold_id = e.id
    where e.shard_id = shard and e.serial = any(wanted) and e.state = 'offered' and r.cancelled_at is null
      and r.held_until < 'infinity'
    order by r.serial for no key update of r
  );
  if entry_id is null then
    update waiting_entries set key = null
    where shard_id = shard and event_id = event and partner_id = partner and key is not null;
  end if;
  perform change_waiting(shard, 'left', waiting_ones);
  if held <> '{}' then
    perform release_registrations(shard, held, due_tickets, 'left', hold_percent);
  end if;
  return (
    select count(*) from waiting_entries where shard_id = shard and serial = any(wanted) and state = 'left'
  );
end $$;
