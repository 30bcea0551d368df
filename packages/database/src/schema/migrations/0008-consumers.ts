import { sql, type Kysely } from 'kysely';

/** Who reads the journal, and how far each of them has come. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Reads the entries of one event: those of one partner and the event's own, or (partner 0) those of all. "until" is where what
  // is under way ends: made again after a failure, it is the same, whatever has come since. Who has the lease reads; it is asked
  // for by who says when it was forgotten.
  await sql`
    create table journal_consumers (
      shard_id integer not null,
      id uuid not null,
      kind text not null,
      event_id integer not null,
      partner_id integer not null,
      last_offset bigint not null default 0,
      until bigint,
      state text not null default 'active' constraint journal_consumers_state_check check (state in ('active', 'paused', 'disabled')),
      failures integer not null default 0,
      failing_since timestamptz,
      next_at timestamptz not null default now(),
      lease uuid,
      leased_until timestamptz,
      created_at timestamptz not null default now(),
      primary key (shard_id, id)
    ) with (fillfactor = 50)`.execute(db);
  await sql`
    create index journal_consumers_of_event on journal_consumers (shard_id, event_id, partner_id)`.execute(
    db,
  );

  // When the oldest entry after an offset was written, of what a consumer reads; null: there is none. From partner to partner,
  // so that it costs the same however long the history is.
  await sql`
    create function oldest_news(shard integer, event integer, partner integer, after bigint) returns timestamptz
    language plpgsql stable as $$
    declare
      reader integer := -1;
      oldest timestamptz;
      found_at timestamptz;
    begin
      loop
        if partner = 0 then
          reader := (
            select min(partner_id) from journal_segments
            where shard_id = shard and event_id = event and partner_id > reader
          );
        else
          reader := case reader when -1 then 0 when 0 then partner end;
        end if;
        exit when reader is null;
        found_at := (
          select at from journal_segments
          where shard_id = shard
            and (event_id, partner_id, last_offset) > (event, reader, after)
            and (event_id, partner_id, last_offset) < (event, reader + 1, 0)
          order by event_id, partner_id, last_offset limit 1
        );
        oldest := least(oldest, found_at);
      end loop;
      return oldest;
    end $$`.execute(db);

  // Gives consumers that have something to read to one process, the longest waiting first. Returns their ids. One after the other:
  // Citus runs no function that reads tables inside a statement on others.
  await sql`
    create function lease_consumers(shard integer, kinds text, most integer, by_lease uuid, lease_for interval) returns uuid[]
    language plpgsql as $$
    declare
      candidate record;
      leased uuid[] := '{}';
      ends constant timestamptz := now() + lease_for;
    begin
      for candidate in
        select id, event_id, partner_id, last_offset from journal_consumers
        where shard_id = shard and kind = kinds and state = 'active' and next_at <= now()
          and (leased_until is null or leased_until <= now())
        order by next_at
      loop
        exit when cardinality(leased) >= most;
        continue when oldest_news(shard, candidate.event_id, candidate.partner_id, candidate.last_offset) is null;
        perform from journal_consumers
        where shard_id = shard and id = candidate.id and state = 'active' and next_at <= now()
          and (leased_until is null or leased_until <= now())
        for update skip locked;
        continue when not found;
        update journal_consumers set lease = by_lease, leased_until = ends where shard_id = shard and id = candidate.id;
        leased := leased || candidate.id;
      end loop;
      return leased;
    end $$`.execute(db);
}
