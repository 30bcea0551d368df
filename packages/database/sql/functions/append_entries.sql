-- Appends entries to the journal after the offset "head", one per serial. Returns the offset of the last one.
-- The caller has locked the journal head. One registration, waiting entry or admission can have several
-- changes in one call: they are written in the order in which they can happen. An event and partner get one
-- segment per kind, and cancellations one for each who cancelled ("operators": see record_changes; entries
-- after its end have null). If the serials of a segment have gaps it lists them, 1,000 per segment, because a
-- reader loads a whole list even for a few serials.
create or replace function append_entries(
  shard integer, head bigint, kinds text[], events integer[], partners integer[], serials bigint[],
  operators boolean[]
) returns bigint language plpgsql
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  insert into journal_segments (
    shard_id, event_id, partner_id, last_offset, count, kind, first_serial, last_serial, serials,
    by_operator
  )
  select shard, event_id, partner_id, head + sum(size) over (rows unbounded preceding), size, kind,
    coalesce(list[1], first), coalesce(list[size], last), list, by_operator
  from (
    -- Each list is cut into pieces once (offset 0).
    select kind, event_id, partner_id, by_operator, first, last,
      case when list is null then count else least(count - part * 1000, 1000) end as size,
      case when count <= 1000 then list else list[part * 1000 + 1 : part * 1000 + 1000] end as list
    from (
      select *, generate_series(0, case when list is null then 0 else (count - 1) / 1000 end) as part
      from (
        select kind, event_id, partner_id, by_operator, count(*)::integer as count, min(serial) as first,
          max(serial) as last,
          case when max(serial) - min(serial) + 1 > count(*) then array_agg(serial order by serial) end as list
        from (
          select unnest(kinds) as kind, unnest(events) as event_id, unnest(partners) as partner_id,
            unnest(serials) as serial, unnest(operators) as by_operator
        ) entry
        group by kind, event_id, partner_id, by_operator
        order by kind in ('cancelled', 'admitted_again', 'waiting.confirmed', 'waiting.expired'),
          kind = 'waiting.offered', first
      ) owner
    ) whole
    offset 0
  ) piece;
  return head + cardinality(serials);
end $$;
