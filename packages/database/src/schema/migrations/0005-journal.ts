import { sql, type Kysely } from 'kysely';
import { PLAIN } from '../engines.ts';
import { createFinalizeBatches } from '../finalize-batches.ts';

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

  await createFinalizeBatches(PLAIN).execute(db);

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
