-- Appends 'sold_out' or 'reopened' to the journal, after the offset "head", for each of these tickets whose
-- state has changed. Returns the offset of the last entry. The caller has locked the journal head.
-- Level-triggered: compares the committed state of a ticket with what was published last. Each change of the
-- state comes with a trigger in its own transaction, so after the last trigger the published state is right.
create or replace function append_ticket_states(shard integer, head bigint, changed_tickets integer[]) returns bigint
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  -- By ticket whose state has changed.
  new_tickets integer[];
  events integer[];
  kinds text[];
begin
  select array_agg(t.id), array_agg(t.event_id), array_agg(t.kind)
  from (
    select shard_id, id, event_id,
      case when taken >= capacity or waiting > 0 then 'sold_out' else 'reopened' end as kind
    from tickets where shard_id = shard and id = any(changed_tickets)
  ) t
  left join ticket_states s on s.shard_id = t.shard_id and s.ticket_id = t.id
  where t.kind <> coalesce(s.kind, 'reopened')
  into new_tickets, events, kinds;
  if new_tickets is null then
    return head;
  end if;
  insert into journal_segments (shard_id, event_id, partner_id, last_offset, count, kind, ticket_id)
  select shard, event_id, 0, head + place, 1, kind, ticket_id
  from unnest(new_tickets, events, kinds) with ordinality as ticket (ticket_id, event_id, kind, place);
  insert into ticket_states (shard_id, ticket_id, kind)
  select shard, ticket_id, kind from unnest(new_tickets, kinds) as ticket (ticket_id, kind)
  on conflict (shard_id, ticket_id) do update set kind = excluded.kind;
  return head + cardinality(new_tickets);
end $$;
