-- Replaces the rows of held_seats by one for each ticket and partner, or by none if it holds nothing any
-- more. reserve_batch does the same whenever a partner holds seats. After the last hold of a ticket, nobody
-- else would. Replaces up to "row_limit" rows of a ticket. Skips tickets that another transaction has locked.
-- Returns how many rows are gone.
create or replace function compact_held_seats(shard integer, row_limit integer) returns integer
language plpgsql security definer set search_path from current
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  -- By deleted row.
  partners integer[];
  numbers integer[];
  added integer;
  total integer := 0;
  entry record;
begin
  for entry in
    select ticket_id from (
      select ticket_id from held_seats where shard_id = shard group by ticket_id, partner_id having count(*) > 1
    ) divided
    group by ticket_id order by ticket_id
  loop
    perform from tickets where shard_id = shard and id = entry.ticket_id for no key update skip locked;
    continue when not found;
    with gone as (
      delete from held_seats where shard_id = shard and ticket_id = entry.ticket_id and id = any(array(
        select id from held_seats where shard_id = shard and ticket_id = entry.ticket_id
        order by partner_id limit row_limit
      ))
      returning partner_id, seats
    )
    select array_agg(partner_id), array_agg(seats) from gone into partners, numbers;
    insert into held_seats (shard_id, ticket_id, partner_id, seats)
    select shard, entry.ticket_id, partner, sum(seats) from unnest(partners, numbers) as gone (partner, seats)
    group by partner having sum(seats) <> 0;
    get diagnostics added = row_count;
    total := total + cardinality(partners) - added;
  end loop;
  return total;
end $$;
