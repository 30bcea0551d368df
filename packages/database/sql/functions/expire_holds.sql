-- Cancels up to "most" registrations whose hold has expired, the oldest first. Returns the number of cancelled registrations.
create or replace function expire_holds(shard integer, most integer) returns integer
language plpgsql security definer set search_path from current
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  due bigint[];
  due_tickets integer[];
begin
  perform set_config('lock_timeout', '5s', true);
  select array_agg(serial), array_agg(ticket_id) into due, due_tickets
  from (
    select serial, ticket_id from registrations
    where shard_id = shard and held_until <= now() and held_until < 'infinity' and cancelled_at is null
    order by held_until limit most
  ) overdue;
  if due is null then
    return 0;
  end if;
  return release_registrations(shard, due, due_tickets, true);
end $$;
