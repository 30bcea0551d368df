-- The only function that writes the journal. Confirms pending batches, or fails them if there is a failure code, and
-- publishes up to "most" changes, the oldest first: all or nothing. Returns the number of batches and of changes. Skips
-- batches that are in the journal already. Runs as the owner, because callers have no other right to write the journal.
create or replace function finalize_batches(
  shard integer, ids uuid[], failure_code text, most integer
) returns integer[]
language plpgsql security definer set search_path from current
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
-- The wait for a row lock must not hold the journal head of the shard for longer.
set lock_timeout = '5s'
as $$
#variable_conflict use_column
declare
  written_at constant timestamptz := now();
  batch_kind constant text := case when failure_code is null then 'confirmed' else 'failed' end;
  head bigint;
  head_after bigint;
  published bigint[];
  later uuid[];
  -- By batch.
  due uuid[];
  first_serials bigint[];
  last_serials bigint[];
  only_events integer[];
  only_partners integer[];
  -- By segment, if the serials of each owner have no gaps.
  run_events integer[];
  run_partners integer[];
  counts integer[];
  run_serials bigint[];
  runs_end bigint;
  has_gaps boolean := true;
  -- By registration of the changes, and of batches with gaps.
  kinds text[];
  events integer[];
  partners integer[];
  serials bigint[];
  changed_tickets integer[];
  ticket_events integer[];
  ticket_kinds text[];
  -- Each batch has one event, one partner and no gaps.
  is_plain boolean;
  -- Each batch lists its events, partners and serials if it has several events, several partners, or gaps.
  is_told boolean;
begin
  -- One finalization at a time: the transaction that has locked the head assigns the offsets. So no entry appears
  -- before an existing entry.
  select last_offset, last_offset into head, head_after from journal_heads where shard_id = shard for update;

  -- Changes first, so that the batches below see the cancellations.
  published := array(select id from changes where shard_id = shard order by id limit most);
  if published <> '{}' then
    select array_agg(kind), array_agg(event_id), array_agg(partner_id), array_agg(serial)
    from (
      select kind, event_id, partner_id, unnest(serials) as serial from changes
      where shard_id = shard and id = any(published)
    ) change
    into kinds, events, partners, serials;
    select array_agg(id) into later from batches
    where shard_id = shard and (journal_offset is null or state = 'failed')
      and id = any(array(select batch_id from changes where shard_id = shard and id = any(published)));
    if later is not null then
      -- A batch that is finalized later reads its remaining registrations, and publishes the confirmed holds among them.
      update batches set event_id = null, events = null where shard_id = shard and id = any(later);
      update registrations set held_until = null
      where shard_id = shard and serial = any(serials) and batch_id = any(later)
        and held_until = 'infinity';
    end if;
    -- A confirmation is published unless its batch will do so.
    select array_agg(kind), array_agg(event_id), array_agg(partner_id), array_agg(change.serial)
    from unnest(kinds, events, partners, serials) as change (kind, event_id, partner_id, serial)
    -- The serials of waiting lists and of the door are no registrations.
    left join lateral (
      select held_until from registrations where shard_id = shard and serial = change.serial offset 0
    ) r on true
    where kind <> 'confirmed' or held_until = 'infinity'
    into kinds, events, partners, serials;
    select array_agg(distinct ticket_id) into changed_tickets from changes
    where shard_id = shard and id = any(published) and ticket_id is not null;
  end if;

  -- Read by primary key (offset 0), because there can be many unwritten batches.
  select array_agg(id), array_agg(first_serial), array_agg(last_serial),
    array_agg(event_id), array_agg(partner_id),
    bool_and(last_serial - first_serial + 1 = size and event_id is not null and partner_id is not null),
    bool_and(
      (last_serial - first_serial + 1 = size or serials is not null)
      and (event_id is not null or events is not null) and (partner_id is not null or partners is not null)
    )
  from (
    select id, state, size, first_serial, last_serial, event_id, partner_id, events, partners, serials, journal_offset
    from batches where shard_id = shard and id = any(ids) offset 0
  ) batches
  where journal_offset is null and (state = 'pending' or state = 'confirmed' and failure_code is null)
  into due, first_serials, last_serials, only_events, only_partners, is_plain, is_told;

  -- One segment per event and partner.
  if is_plain then
    select array_agg(event_id order by first), array_agg(partner_id order by first), array_agg(count order by first),
      array_agg(first order by first), bool_or(last - first + 1 > count), head + sum(count)
    into run_events, run_partners, counts, run_serials, has_gaps, runs_end
    from (
      select event_id, partner_id, sum(last - first + 1)::integer as count, min(first) as first, max(last) as last
      from unnest(only_events, only_partners, first_serials, last_serials) as run (event_id, partner_id, first, last)
      group by event_id, partner_id
    ) owner;
  end if;
  if not has_gaps then
    insert into journal_segments (
      shard_id, event_id, partner_id, last_offset, count, kind, first_serial, last_serial
    )
    select shard, event_id, partner_id, head + sum(count) over (rows unbounded preceding), count, batch_kind, first,
      first + count - 1
    from unnest(run_events, run_partners, counts, run_serials) as segment (event_id, partner_id, count, first);
    head_after := runs_end;
  elsif is_told then
    select kinds || array_agg(batch_kind), events || array_agg(event_id), partners || array_agg(partner_id),
      serials || array_agg(serial)
    from (
      select unnest(coalesce(events, array_fill(event_id, array[size]))) as event_id,
        unnest(coalesce(partners, array_fill(partner_id, array[size]))) as partner_id,
        unnest(coalesce(serials, array(select generate_series(first_serial, last_serial)))) as serial
      from batches where shard_id = shard and id = any(due)
    ) r
    into kinds, events, partners, serials;
  elsif due is not null then
    -- Read by the range of serials of each batch; otherwise the planner chooses a full scan. Cancelled registrations
    -- are skipped: their change is published, or will be. Held ones are published when they are confirmed.
    select kinds || array_agg(batch_kind), events || array_agg(r.event_id), partners || array_agg(r.partner_id),
      serials || array_agg(r.serial)
    from unnest(due, first_serials, last_serials) as batch (id, first_serial, last_serial)
    cross join lateral (
      select event_id, partner_id, serial
      from registrations
      where shard_id = shard and serial between batch.first_serial and batch.last_serial and batch_id = batch.id
        and cancelled_at is null and held_until is null
      offset 0
    ) r
    into kinds, events, partners, serials;
  end if;

  -- In the order in which one registration, entry or admission can have these changes, because it can have several in one call. Lists
  -- are cut into pieces of 1,000, each once (offset 0), because a reader loads a whole list even for a few serials.
  if serials is not null then
    insert into journal_segments (
      shard_id, event_id, partner_id, last_offset, count, kind, first_serial, last_serial, serials
    )
    select shard, event_id, partner_id, head_after + sum(size) over (rows unbounded preceding), size, kind,
      coalesce(list[1], first), coalesce(list[size], last), list
    from (
      select kind, event_id, partner_id, first, last,
        case when list is null then count else least(count - part * 1000, 1000) end as size,
        case when count <= 1000 then list else list[part * 1000 + 1 : part * 1000 + 1000] end as list
      from (
        select *, generate_series(0, case when list is null then 0 else (count - 1) / 1000 end) as part
        from (
          select kind, event_id, partner_id, count(*)::integer as count, min(serial) as first, max(serial) as last,
            case when max(serial) - min(serial) + 1 > count(*) then array_agg(serial order by serial) end as list
          from (
            select unnest(kinds) as kind, unnest(events) as event_id, unnest(partners) as partner_id,
              unnest(serials) as serial
          ) r
          group by kind, event_id, partner_id
          order by kind in ('cancelled', 'admitted_again', 'waiting.confirmed', 'waiting.expired'), kind = 'waiting.offered', first
        ) owner
      ) whole
      offset 0
    ) part;
    head_after := head_after + cardinality(serials);
  end if;

  -- Level-triggered: compares the committed state of a ticket with what was published last. Each change of the state comes with
  -- a trigger in its own transaction, so after the last trigger the published state is right.
  if changed_tickets is not null then
    select array_agg(t.id), array_agg(t.event_id), array_agg(t.kind)
    from (
      select shard_id, id, event_id, case when taken >= capacity or waiting > 0 then 'sold_out' else 'reopened' end as kind
      from tickets where shard_id = shard and id = any(changed_tickets)
    ) t
    left join ticket_states s on s.shard_id = t.shard_id and s.ticket_id = t.id
    where t.kind <> coalesce(s.kind, 'reopened')
    into changed_tickets, ticket_events, ticket_kinds;
  end if;
  if changed_tickets is not null then
    insert into journal_segments (shard_id, event_id, partner_id, last_offset, count, kind, ticket_id)
    select shard, event_id, 0, head_after + place, 1, kind, ticket_id
    from unnest(changed_tickets, ticket_events, ticket_kinds) with ordinality as ticket (ticket_id, event_id, kind, place);
    insert into ticket_states (shard_id, ticket_id, kind)
    select shard, ticket_id, kind from unnest(changed_tickets, ticket_kinds) as ticket (ticket_id, kind)
    on conflict (shard_id, ticket_id) do update set kind = excluded.kind;
    head_after := head_after + cardinality(changed_tickets);
  end if;

  update batches
  set state = batch_kind::batch_state, finished_at = coalesce(finished_at, written_at), failure = failure_code,
    events = null, partners = null, serials = null, journal_offset = head
  where shard_id = shard and id = any(due);
  if published <> '{}' then
    delete from changes where shard_id = shard and id = any(published);
  end if;
  update journal_heads set last_offset = head_after where shard_id = shard and last_offset < head_after;
  return array[coalesce(cardinality(due), 0), cardinality(published)];
end $$;
