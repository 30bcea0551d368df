-- Returns when the oldest entry after an offset was written, of the entries that a consumer reads; null: there is none.
-- Goes from partner to partner, so its cost does not depend on the length of the journal.
create or replace function oldest_news(shard integer, event integer, partner integer, after bigint) returns timestamptz
language plpgsql stable as $$
declare
  reader integer := -1;
  oldest timestamptz;
begin
  loop
    reader := case
      when partner = 0 then (
        select min(partner_id) from journal_segments
        where shard_id = shard and event_id = event and partner_id > reader
      )
      when reader = -1 then 0
      when reader = 0 then partner
    end;
    exit when reader is null;
    oldest := least(oldest, (
      select at from journal_segments
      where shard_id = shard
        and (event_id, partner_id, last_offset) > (event, reader, after)
        and (event_id, partner_id, last_offset) < (event, reader + 1, 0)
      order by event_id, partner_id, last_offset limit 1
    ));
  end loop;
  return oldest;
end $$;
