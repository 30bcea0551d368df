-- Records for finalize_batches that these registrations were confirmed or cancelled: one row per batch and
-- ticket. Those that were held count as held no longer. "by_operator": whether an operator cancelled them, or
-- their partner. Null: neither did (the hold expired, another attendee got the seat), or they were confirmed.
-- It reads and inserts in two statements: if an insert reads a table, Citus does not see that only one shard
-- is needed, and reads all shards of all servers.
create or replace function record_changes(
  shard integer, change text, changed bigint[], by_operator boolean default null
) returns void
language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  events integer[];
  partners integer[];
  batch_ids uuid[];
  tickets integer[];
  -- How many of them were held.
  held integer[];
  -- As text, because arrays of different lengths do not make an array.
  lists text[];
begin
  select array_agg(event_id), array_agg(partner_id), array_agg(batch_id), array_agg(ticket_id), array_agg(freed),
    array_agg(list)
  into events, partners, batch_ids, tickets, held, lists
  from (
    select event_id, partner_id, batch_id, ticket_id, array_agg(serial)::text as list,
      count(*) filter (where change = 'confirmed' or held_until < 'infinity')::integer as freed
    from registrations
    where shard_id = shard and serial = any(changed)
    group by event_id, partner_id, batch_id, ticket_id
  ) of_batch;
  insert into changes (shard_id, kind, event_id, partner_id, batch_id, serials, by_operator)
  select shard, change, event_id, partner_id, batch_id, list::bigint[], record_changes.by_operator
  from unnest(events, partners, batch_ids, lists) as change_of (event_id, partner_id, batch_id, list);
  insert into held_seats (shard_id, ticket_id, partner_id, seats)
  select shard, ticket, partner, -sum(seats)
  from unnest(tickets, partners, held) as changed_of (ticket, partner, seats)
  where seats > 0
  group by ticket, partner;
end $$;
