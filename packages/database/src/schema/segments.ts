/**
 * Writes one segment for each event and partner, after `$head`: of the registrations with `$serials`, whose events and partners
 * are `$events` and `$partners`. Lists in parts, each cut once (offset 0): a reader reads all of a list, however few of its
 * serials it wants.
 */
export const INSERT_LISTS = `
  insert into {journal_segments} (
    shard_id, event_id, partner_id, last_offset, count, kind, first_serial, last_serial, serials
  )
  select $shard, event_id, partner_id, $head + sum(size) over (rows unbounded preceding), size, $kind,
    coalesce(list[1], first), coalesce(list[size], last), list
  from (
    select event_id, partner_id, first, last,
      case when list is null then count else least(count - part * 1000, 1000) end as size,
      case when count <= 1000 then list else list[part * 1000 + 1 : part * 1000 + 1000] end as list
    from (
      select *, generate_series(0, case when list is null then 0 else (count - 1) / 1000 end) as part
      from (
        select event_id, partner_id, count(*)::integer as count, min(serial) as first, max(serial) as last,
          case when max(serial) - min(serial) + 1 > count(*) then array_agg(serial order by serial) end as list
        from (
          select unnest($events) as event_id, unnest($partners) as partner_id, unnest($serials) as serial
        ) r
        group by event_id, partner_id
        order by first
      ) owner
    ) whole
    offset 0
  ) part`;
