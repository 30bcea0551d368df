-- Ends all holds and offers of these tickets now: no partner can confirm them any more, and the worker releases their seats. For an
-- operator's emergency stop. Returns the number of seats. The caller has locked the tickets.
create or replace function end_holds(shard integer, ended_tickets integer[]) returns integer
language plpgsql security definer set search_path from current
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  due bigint[];
  ended integer;
begin
  -- In the order of change_holds. A confirmation that has locked its seats first is kept.
  due := array(
    select serial from registrations
    where shard_id = shard and ticket_id = any(ended_tickets) and cancelled_at is null
      and held_until > '-infinity' and held_until < 'infinity'
    order by serial for no key update
  );
  update registrations set held_until = now()
  where shard_id = shard and serial = any(due) and cancelled_at is null and held_until > now() and held_until < 'infinity';
  get diagnostics ended = row_count;
  return ended;
end $$;
