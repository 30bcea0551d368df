-- The only function that writes the journal, with the functions that it calls. Confirms pending batches, or
-- fails them if there is a failure code, and publishes up to "most" changes, the oldest first: all or
-- nothing. Returns the number of batches and of changes. Skips batches that are in the journal already. Locks
-- the journal head, then the batches and the registrations of holds that were confirmed before their batch.
-- Runs as the owner, because callers have no other right to write the journal.
--
-- A plain batch names its event and partner, and its serials have no gaps. The content of another batch is
-- read from its registrations. An older release listed it in the batch (events, partners, serials): nothing
-- reads these columns any more.
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
  -- The offset of the last entry that this call has appended.
  head_after bigint;
  published bigint[];
  changed_tickets integer[];
  -- By entry with a serial: the changes, and the registrations of batches unless each owner has one range of
  -- serials.
  kinds text[];
  events integer[];
  partners integer[];
  serials bigint[];
  -- By change. The registrations of batches follow, and have none.
  operators boolean[];
  -- By batch.
  due uuid[];
  batch_firsts bigint[];
  batch_lasts bigint[];
  batch_events integer[];
  batch_partners integer[];
  are_plain boolean;
  -- By owner (event and partner) of plain batches.
  owner_events integer[];
  owner_partners integer[];
  owner_counts integer[];
  owner_firsts bigint[];
  have_gaps boolean := true;
begin
  -- One finalization at a time: the transaction that has locked the head assigns the offsets. So no entry
  -- appears before an existing entry.
  select last_offset, last_offset into head, head_after from journal_heads where shard_id = shard for update;

  -- Changes first, so that the batches below see the cancellations.
  published := array(select id from changes where shard_id = shard order by id limit most);
  if published <> '{}' then
    select * from take_changes(shard, published) into kinds, events, partners, serials, operators,
      changed_tickets;
  end if;

  -- Read by primary key (offset 0), because there can be many unwritten batches.
  select array_agg(id), array_agg(first_serial), array_agg(last_serial), array_agg(event_id), array_agg(partner_id),
    bool_and(last_serial - first_serial + 1 = size and event_id is not null and partner_id is not null)
  from (
    select id, state, size, first_serial, last_serial, event_id, partner_id, journal_offset
    from batches where shard_id = shard and id = any(ids) offset 0
  ) batches
  where journal_offset is null and (state = 'pending' or state = 'confirmed' and failure_code is null)
  into due, batch_firsts, batch_lasts, batch_events, batch_partners, are_plain;

  if are_plain then
    select array_agg(event_id order by first), array_agg(partner_id order by first), array_agg(count order by first),
      array_agg(first order by first), bool_or(last - first + 1 > count)
    from (
      select event_id, partner_id, sum(last - first + 1)::integer as count, min(first) as first, max(last) as last
      from unnest(batch_events, batch_partners, batch_firsts, batch_lasts) as batch (event_id, partner_id, first, last)
      group by event_id, partner_id
    ) owner
    into owner_events, owner_partners, owner_counts, owner_firsts, have_gaps;
  end if;
  if not have_gaps then
    -- One segment per owner.
    insert into journal_segments (
      shard_id, event_id, partner_id, last_offset, count, kind, first_serial, last_serial
    )
    select shard, event_id, partner_id, head + sum(count) over (rows unbounded preceding), count, batch_kind, first,
      first + count - 1
    from unnest(owner_events, owner_partners, owner_counts, owner_firsts) as owner (event_id, partner_id, count, first);
    head_after := head + (select sum(count) from unnest(owner_counts) as count);
  elsif due is not null then
    -- Read by the range of serials of each batch; otherwise the planner chooses a full scan. Cancelled
    -- registrations are skipped: their change is published, or will be. Held ones are published when they are
    -- confirmed.
    select kinds || array_agg(batch_kind), events || array_agg(r.event_id), partners || array_agg(r.partner_id),
      serials || array_agg(r.serial)
    from unnest(due, batch_firsts, batch_lasts) as batch (id, first_serial, last_serial)
    cross join lateral (
      select event_id, partner_id, serial from registrations
      where shard_id = shard and serial between batch.first_serial and batch.last_serial and batch_id = batch.id
        and cancelled_at is null and held_until is null
      offset 0
    ) r
    into kinds, events, partners, serials;
  end if;
  if serials is not null then
    head_after := append_entries(shard, head_after, kinds, events, partners, serials, operators);
  end if;
  if changed_tickets is not null then
    head_after := append_ticket_states(shard, head_after, changed_tickets);
  end if;

  update batches
  set state = batch_kind::batch_state, finished_at = coalesce(finished_at, written_at), failure = failure_code,
    journal_offset = head
  where shard_id = shard and id = any(due);
  if published <> '{}' then
    delete from changes where shard_id = shard and id = any(published);
  end if;
  update journal_heads set last_offset = head_after where shard_id = shard and last_offset < head_after;
  return array[coalesce(cardinality(due), 0), cardinality(published)];
end $$;
