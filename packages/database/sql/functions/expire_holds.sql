-- Cancels up to "row_limit" registrations of one ticket whose hold has expired. It chooses the ticket with
-- the oldest expired hold that is not in "skipped". Returns the ticket and the number of cancelled
-- registrations, or null if no hold has expired. The number is null if another transaction holds the lock of
-- the ticket. A transaction handles one ticket, so that a locked ticket does not block the others.
create or replace function expire_holds(
  shard integer, row_limit integer, skipped integer[], hold_percent integer default null
) returns json
language plpgsql security definer set search_path from current
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  next_ticket integer;
  due bigint[];
begin
  perform set_config('lock_timeout', '2s', true);
  select ticket_id into next_ticket from registrations
  where shard_id = shard and held_until <= now() and held_until < 'infinity' and cancelled_at is null
    and ticket_id <> all(skipped)
  order by held_until limit 1;
  if not found then
    return null;
  end if;
  due := array(
    select serial from registrations
    where shard_id = shard and held_until <= now() and held_until < 'infinity' and cancelled_at is null
      and ticket_id = next_ticket
    order by held_until limit row_limit
  );
  begin
    return json_build_object(
      'ticketId', next_ticket, 'expired', release_registrations(shard, due, array[next_ticket], 'expired', hold_percent)
    );
  exception when lock_not_available then
    return json_build_object('ticketId', next_ticket, 'expired', null);
  end;
end $$;
