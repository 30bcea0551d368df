import { sql, type Kysely } from 'kysely';

/** The journal: what happened to registrations after they were answered, in one order per shard. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // One row per shard: who has it locked gives places.
  await sql`
    create table journal_heads (
      shard_id integer primary key,
      last_offset bigint not null default 0
    ) with (fillfactor = 50)`.execute(db);
  await sql`insert into journal_heads (shard_id) values (0)`.execute(db);

  // A segment holds "count" entries of one kind, one event and one partner (0: the event's own, about a ticket). They have
  // the offsets up to last_offset. Serials are listed where they do not simply follow each other.
  await sql`
    create table journal_segments (
      shard_id integer not null,
      event_id integer not null,
      partner_id integer not null,
      last_offset bigint not null,
      count integer not null,
      kind text not null,
      ticket_id integer,
      first_serial bigint,
      last_serial bigint,
      serials bigint[],
      at timestamptz not null default now(),
      primary key (shard_id, last_offset)
    )`.execute(db);
  // The key serves who reads all of a shard, and who deletes its oldest; this one those of a partner, or of an event. More than
  // these two would cost every segment more than they save.
  await sql`
    create index journal_segments_of_partner on journal_segments (shard_id, event_id, partner_id, last_offset)`.execute(
    db,
  );

  // Confirms batches that are pending, or gives them up where there is a failure code, and writes it down: all of it or
  // nothing. Returns how many there were; what is written already is left as it is.
  await sql`
    create function finalize_batches(shard integer, ids uuid[], failure_code text) returns integer
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    as $$
    #variable_conflict use_column
    declare
      -- Citus allows no call of now() where a row's own value may do.
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
      is_told boolean;
    begin
      -- A row that somebody holds must not keep the shard's head for longer.
      perform set_config('lock_timeout', '5s', true);
      -- One at a time: who has the head gives the places. So no entry appears before one that is there already.
      select last_offset into head from journal_heads where shard_id = shard for update;
      head_after := head;

      select array_agg(id), array_agg(first_serial), array_agg(last_serial),
        array_agg(event_id), array_agg(partner_id), bool_or(sold_out is not null),
        bool_and(last_serial - first_serial + 1 = size and event_id is not null and partner_id is not null),
        bool_and(
          (last_serial - first_serial + 1 = size or serials is not null)
          and (event_id is not null or events is not null) and (partner_id is not null or partners is not null)
        )
      into due, first_serials, last_serials, only_events, only_partners, is_sold_out, is_plain, is_told
      -- By their key first: of those that are not written yet there may be many.
      from (
        select id, state, size, first_serial, last_serial, event_id, partner_id, events, partners, serials, sold_out,
          journal_offset
        from batches where shard_id = shard and id = any(ids) offset 0
      ) batches
      where journal_offset is null and (state = 'pending' or state = 'confirmed' and failure_code is null);
      if due is null then
        return 0;
      end if;

      -- One segment for each event and partner. Whose the registrations are is in the batches: one's each, or a list.
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
        insert into journal_segments (
          shard_id, event_id, partner_id, last_offset, count, kind, first_serial, last_serial
        )
        select shard, event_id, partner_id, head + sum(count) over (rows unbounded preceding), count, kind, first,
          first + count - 1
        from unnest(events, partners, counts, serials) as segment (event_id, partner_id, count, first);
        head_after := head + (select sum(count) from unnest(counts) as count);
      else
        if is_told then
          select array_agg(event_id), array_agg(partner_id), array_agg(serial) into events, partners, serials
          from (
            select unnest(coalesce(events, array_fill(event_id, array[size]))) as event_id,
              unnest(coalesce(partners, array_fill(partner_id, array[size]))) as partner_id,
              unnest(coalesce(serials, array(select generate_series(first_serial, last_serial)))) as serial
            from batches where shard_id = shard and id = any(due)
          ) r;
        else
          select array_agg(r.event_id), array_agg(r.partner_id), array_agg(r.serial) into events, partners, serials
          from unnest(due, first_serials, last_serials) as batch (id, first_serial, last_serial)
          cross join lateral (
            select event_id, partner_id, serial
            from registrations
            where shard_id = shard and serial between batch.first_serial and batch.last_serial and batch_id = batch.id
              -- Who was cancelled before is told of by the cancellation alone.
              and cancelled_at is null
            -- Batch by batch, each by the range of its serials. Otherwise Postgres reads the whole table, which it takes for less.
            offset 0
          ) r;
        end if;
        insert into journal_segments (
          shard_id, event_id, partner_id, last_offset, count, kind, first_serial, last_serial, serials
        )
        select shard, event_id, partner_id, head + sum(size) over (rows unbounded preceding), size, kind,
          coalesce(list[1], first), coalesce(list[size], last), list
        -- Lists in parts: a reader reads all of a list, however few of its serials it wants.
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
                select unnest(events) as event_id, unnest(partners) as partner_id, unnest(serials) as serial
              ) r
              group by event_id, partner_id
              order by first
            ) owner
          ) whole
          -- So that each part is cut once.
          offset 0
        ) part;
        head_after := head + coalesce(cardinality(serials), 0);
      end if;

      -- Tickets that are sold out by it, each told of once: the release before gives a ticket seats again without a word.
      if is_sold_out then
        sold_out_tickets := array(
          select distinct ticket from batches, unnest(sold_out) as ticket where shard_id = shard and id = any(due)
        );
        select array_agg(t.id), array_agg(t.event_id) into sold_out_tickets, events
        from tickets t
        where t.shard_id = shard and t.id = any(sold_out_tickets) and 'sold_out' is distinct from (
          select kind from journal_segments told
          where told.shard_id = shard and told.event_id = t.event_id and told.partner_id = 0 and told.ticket_id = t.id
          order by last_offset desc limit 1
        );
        insert into journal_segments (shard_id, event_id, partner_id, last_offset, count, kind, ticket_id)
        select shard, event_id, 0, head_after + place, 1, 'sold_out', ticket_id
        from unnest(events, sold_out_tickets) with ordinality as ticket (event_id, ticket_id, place);
        head_after := head_after + coalesce(cardinality(sold_out_tickets), 0);
      end if;

      update batches
      set state = case when failure_code is null then 'confirmed' else 'failed' end::batch_state,
        finished_at = coalesce(finished_at, written_at),
        failure = failure_code, sold_out = null, events = null, partners = null, serials = null, journal_offset = head
      where shard_id = shard and id = any(due);
      update journal_heads set last_offset = head_after where shard_id = shard;
      return cardinality(due);
    end $$`.execute(db);

  // Gives batches that have waited too long to one relay, the longest waiting first. Each is left alone for a time that doubles
  // with every lease, from first_lease on. Returns their ids.
  await sql`
    create function lease_batches(shard integer, most integer, first_lease interval) returns uuid[]
    language plpgsql as $$
    #variable_conflict use_column
    declare
      due uuid[];
      leased_until timestamptz[];
    begin
      -- The times first: Citus adds none to another in an update, where a row's own value takes part.
      select array_agg(id), array_agg(until) into due, leased_until
      from (
        select id, now() + first_lease * (2 ^ least(enqueues, 6)) as until from batches
        where shard_id = shard and journal_offset is null and state in ('pending', 'confirmed') and relay_at <= now()
        order by relay_at limit most for update skip locked
      ) leased;
      if due is not null then
        update batches set enqueues = enqueues + 1, relay_at = leased.until
        from unnest(due, leased_until) as leased (batch_id, until)
        where shard_id = shard and id = leased.batch_id;
      end if;
      return coalesce(due, '{}');
    end $$`.execute(db);

  // An operator has changed whether a ticket has seats: 'sold_out' or 'reopened'. What was told last is not told again, and a
  // ticket of which nothing was told has seats. If nobody was told yet that it was sold out, nobody has to be told of either.
  await sql`
    create function tell_of_ticket(shard integer, event integer, ticket integer, news text) returns void
    language plpgsql as $$
    declare
      head bigint;
      last_told text;
      is_unwritten boolean := false;
    begin
      select last_offset into head from journal_heads where shard_id = shard for update;
      if news = 'reopened' then
        update batches set sold_out = array_remove(sold_out, ticket)
        where shard_id = shard and journal_offset is null and state in ('pending', 'confirmed')
          and ticket = any(sold_out);
        is_unwritten := found;
      end if;
      select kind into last_told from journal_segments
      where shard_id = shard and event_id = event and partner_id = 0 and ticket_id = ticket
      order by last_offset desc limit 1;
      if last_told is null then
        -- Retention has deleted it, the release before did not tell, or nobody was told yet. Who has sold nothing was not sold out.
        select case when taken > 0 and not is_unwritten then 'sold_out' else 'reopened' end into last_told
        from tickets where shard_id = shard and id = ticket;
        if news = 'sold_out' then
          last_told := 'reopened';
        end if;
      end if;
      if last_told <> news then
        insert into journal_segments (shard_id, event_id, partner_id, last_offset, count, kind, ticket_id)
        values (shard, event, 0, head + 1, 1, news, ticket);
        update journal_heads set last_offset = head + 1 where shard_id = shard;
      end if;
    end $$`.execute(db);
}
