import { sql, type RawBuilder } from 'kysely';
import type { Engine } from './engines.ts';
import { INSERT_LISTS } from './segments.ts';

/** One at a time: who has the head gives the places. So no entry appears before one that is there already. */
const LOCK_HEAD = `select last_offset from {journal_heads} where shard_id = $shard for update`;

/** Those that are due. By their key first: of those that are not written yet there may be many. */
const READ_BATCHES = `
  select array_agg(id), array_agg(first_serial), array_agg(last_serial),
    array_agg(event_id), array_agg(partner_id), bool_or(sold_out is not null),
    bool_and(last_serial - first_serial + 1 = size and event_id is not null and partner_id is not null),
    bool_and(
      (last_serial - first_serial + 1 = size or serials is not null)
      and (event_id is not null or events is not null) and (partner_id is not null or partners is not null)
    )
  from (
    select id, state, size, first_serial, last_serial, event_id, partner_id, events, partners, serials, sold_out,
      journal_offset
    from {batches} where shard_id = $shard and id = any($ids) offset 0
  ) batches
  where journal_offset is null and (state = 'pending' or state = 'confirmed' and $failure_code is null)`;

/** Whose the registrations are, as the batches list them. */
const READ_LISTS = `
  select array_agg(event_id), array_agg(partner_id), array_agg(serial)
  from (
    select unnest(coalesce(events, array_fill(event_id, array[size]))) as event_id,
      unnest(coalesce(partners, array_fill(partner_id, array[size]))) as partner_id,
      unnest(coalesce(serials, array(select generate_series(first_serial, last_serial)))) as serial
    from {batches} where shard_id = $shard and id = any($due)
  ) r`;

/**
 * As they are stored. Batch by batch, each by the range of its serials: otherwise Postgres reads the whole table, which it
 * takes for less. Who was cancelled before is told of by the cancellation alone, and whose seat is held when it is confirmed.
 */
const READ_REGISTRATIONS = `
  select array_agg(r.event_id), array_agg(r.partner_id), array_agg(r.serial)
  from unnest($due, $first_serials, $last_serials) as batch (id, first_serial, last_serial)
  cross join lateral (
    select event_id, partner_id, serial
    from {registrations}
    where shard_id = $shard and serial between batch.first_serial and batch.last_serial and batch_id = batch.id
      and cancelled_at is null and held_until is null
    offset 0
  ) r`;

/** By segment. */
const INSERT_RUNS = `
  insert into {journal_segments} (
    shard_id, event_id, partner_id, last_offset, count, kind, first_serial, last_serial
  )
  select $shard, event_id, partner_id, $head + sum(count) over (rows unbounded preceding), count, $kind, first,
    first + count - 1
  from unnest($events, $partners, $counts, $serials) as segment (event_id, partner_id, count, first)`;

const READ_SOLD_OUT = `
  select array(select distinct ticket from {batches}, unnest(sold_out) as ticket where shard_id = $shard and id = any($due))`;

/** Each is told of once: the release before gives a ticket seats again without a word. */
const READ_UNTOLD = `
  select array_agg(t.id), array_agg(t.event_id)
  from {tickets} t
  where t.shard_id = $shard and t.id = any($sold_out_tickets) and 'sold_out' is distinct from (
    select kind from {journal_segments} told
    where told.shard_id = $shard and told.event_id = t.event_id and told.partner_id = 0 and told.ticket_id = t.id
    order by last_offset desc limit 1
  )`;

const INSERT_SOLD_OUT = `
  insert into {journal_segments} (shard_id, event_id, partner_id, last_offset, count, kind, ticket_id)
  select $shard, event_id, 0, $head_after + place, 1, 'sold_out', ticket_id
  from unnest($events, $sold_out_tickets) with ordinality as ticket (event_id, ticket_id, place)`;

const UPDATE_BATCHES = `
  update {batches}
  set state = case when $failure_code is null then 'confirmed' else 'failed' end::batch_state,
    finished_at = coalesce(finished_at, $written_at),
    failure = $failure_code, sold_out = null, events = null, partners = null, serials = null, journal_offset = $head
  where shard_id = $shard and id = any($due)`;

const MOVE_HEAD = `update {journal_heads} set last_offset = $head_after where shard_id = $shard`;

const DECLARATIONS = `
declare
  written_at constant timestamptz := now();
  kind constant text := case when failure_code is null then 'confirmed' else 'failed' end;
  head bigint;
  head_after bigint;
  -- By batch.
  due uuid[];
  first_serials bigint[];
  last_serials bigint[];
  only_events integer[];
  only_partners integer[];
  -- By segment; or by registration, where the serials of one owner do not follow each other.
  events integer[];
  partners integer[];
  counts integer[];
  serials bigint[];
  has_gaps boolean := true;
  sold_out_tickets integer[];
  is_sold_out boolean;
  -- That the batches say whose their registrations are: one owner each, or a list.
  is_plain boolean;
  is_told boolean;`;

/** One segment for each event and partner. Whose the registrations are is in the batches: one's each, or a list. */
const writeSegments = ({ run }: Engine) => `
  if is_plain then
    select array_agg(event_id order by first), array_agg(partner_id order by first), array_agg(count order by first),
      array_agg(first order by first), bool_or(last - first + 1 > count)
    into events, partners, counts, serials, has_gaps
    from (
      select event_id, partner_id, sum(last - first + 1)::integer as count, min(first) as first, max(last) as last
      from unnest(only_events, only_partners, first_serials, last_serials) as run (event_id, partner_id, first, last)
      group by event_id, partner_id
    ) owner;
  end if;
  if not has_gaps then
    ${run(INSERT_RUNS)};
    head_after := head + (select sum(count) from unnest(counts) as count);
  else
    if is_told then
      ${run(READ_LISTS, 'events, partners, serials')};
    else
      ${run(READ_REGISTRATIONS, 'events, partners, serials')};
    end if;
    ${run(INSERT_LISTS)};
    head_after := head + coalesce(cardinality(serials), 0);
  end if;`;

/**
 * Confirms batches that are pending, or gives them up where there is a failure code, and writes it down: all of it or
 * nothing. Returns how many there were; what is written already is left as it is.
 */
export const createFinalizeBatches = (engine: Engine): RawBuilder<unknown> => {
  const { begin, run } = engine;
  return sql.raw(`
  create or replace function finalize_batches(shard integer, ids uuid[], failure_code text) returns integer
  language plpgsql
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  as $$
  #variable_conflict use_column
  ${DECLARATIONS}
  begin
    -- A row that somebody holds must not keep the shard's head for longer.
    perform set_config('lock_timeout', '5s', true);
    ${begin}
    ${run(LOCK_HEAD, 'head')};
    ${run(
      READ_BATCHES,
      'due, first_serials, last_serials, only_events, only_partners, is_sold_out, is_plain, is_told',
    )};
    if due is null then
      return 0;
    end if;

    ${writeSegments(engine)}
    if is_sold_out then
      ${run(READ_SOLD_OUT, 'sold_out_tickets')};
      ${run(READ_UNTOLD, 'sold_out_tickets, events')};
      ${run(INSERT_SOLD_OUT)};
      head_after := head_after + coalesce(cardinality(sold_out_tickets), 0);
    end if;

    ${run(UPDATE_BATCHES)};
    ${run(MOVE_HEAD)};
    return cardinality(due);
  end $$`);
};
