-- Takes these changes for the journal. Returns them, by registration, waiting entry or admission, with who
-- cancelled ("operators": see record_changes), and the tickets whose state may have changed. Null: none. A
-- batch that is not in the journal yet, and whose registrations have changed, names its event no longer. So
-- finalization reads what is left of it, and publishes its confirmed holds with it: their change is not
-- returned. The caller has locked the journal head, and deletes the changes.
create or replace function take_changes(
  shard integer, published bigint[],
  out kinds text[], out events integer[], out partners integer[], out serials bigint[], out operators boolean[],
  out changed_tickets integer[]
) returns record language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  unwritten uuid[];
begin
  select array_agg(kind), array_agg(event_id), array_agg(partner_id), array_agg(serial), array_agg(by_operator)
  from (
    select kind, event_id, partner_id, unnest(serials) as serial, by_operator from changes
    where shard_id = shard and id = any(published)
  ) change
  into kinds, events, partners, serials, operators;
  select array_agg(id) into unwritten from batches
  where shard_id = shard and (journal_offset is null or state = 'failed')
    and id = any(array(select batch_id from changes where shard_id = shard and id = any(published)));
  if unwritten is not null then
    update batches set event_id = null where shard_id = shard and id = any(unwritten);
    update registrations set held_until = null
    where shard_id = shard and serial = any(serials) and batch_id = any(unwritten) and held_until = 'infinity';
  end if;
  -- A confirmation is published unless its batch will do so.
  select array_agg(kind), array_agg(event_id), array_agg(partner_id), array_agg(change.serial),
    array_agg(by_operator)
  from unnest(kinds, events, partners, serials, operators) as change (kind, event_id, partner_id, serial, by_operator)
  -- The serials of waiting lists and of the door are no registrations.
  left join lateral (
    select held_until from registrations where shard_id = shard and serial = change.serial offset 0
  ) r on true
  where kind <> 'confirmed' or held_until = 'infinity'
  into kinds, events, partners, serials, operators;
  select array_agg(distinct ticket_id) into changed_tickets from changes
  where shard_id = shard and id = any(published) and ticket_id is not null;
end $$;
