-- Returns the answer that the first call of a batch gave, or null if there was no such call: see
-- reserve_batch. Locks the wanted tickets in id order first. So it waits for a first call that still runs.
create or replace function find_first_answer(
  shard integer, batch uuid, wanted_tickets integer[], has_baskets boolean
) returns json language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  earlier record;
begin
  perform from tickets where shard_id = shard and id = any(wanted_tickets) order by id for no key update;
  select answer, first_serial, last_serial, created_at into earlier from batches where shard_id = shard and id = batch;
  if not found then
    return null;
  end if;
  -- Without a stored answer everybody got a seat.
  return coalesce(earlier.answer, json_build_object(
    'outcomes', null,
    'serials', array(
      select serial from registrations
      where shard_id = shard and serial between earlier.first_serial and earlier.last_serial and batch_id = batch
      order by position
    ),
    'replays', '{}'::bigint[],
    'at', earlier.created_at,
    'expires', case when has_baskets then array(
      select nullif(held_until, 'infinity') from registrations
      where shard_id = shard and serial between earlier.first_serial and earlier.last_serial and batch_id = batch
      order by position
    ) end
  ));
end $$;
