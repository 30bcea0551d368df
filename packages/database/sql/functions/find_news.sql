-- Finds the consumers of the new segments of the journal, and raises their news_offset. The cost depends on
-- the new segments and their consumers, not on the number of consumers. One process scans at a time; the
-- others continue without a scan. Returns whether a consumer of this kind can be leased. If nothing is new,
-- this reads two rows and an empty index.
create or replace function find_news(shard integer, of_kind text) returns boolean
language plpgsql as $$
declare
  -- Bounds the statement after an outage of all delivery processes.
  scan_limit constant integer := 10000;
  head bigint;
  scanned bigint;
  scan_to bigint;
begin
  select heads.last_offset, scans.last_offset into head, scanned
  from journal_heads heads join consumer_scans scans on scans.shard_id = heads.shard_id
  where heads.shard_id = shard;
  if head > scanned then
    select last_offset into scanned from consumer_scans where shard_id = shard for update skip locked;
  end if;
  -- "scanned" is null if another process scans.
  if head > scanned then
    select case when count(*) < scan_limit then head else max(last_offset) end into scan_to
    from (
      select last_offset from journal_segments
      where shard_id = shard and last_offset > scanned and last_offset <= head
      order by last_offset limit scan_limit
    ) new_segments;
    -- Partner 0 means all partners, for a segment and for a consumer.
    update journal_consumers set news_offset = greatest(news_offset, news.last_offset)
    from (
      select matched.id, max(matched.last_offset) as last_offset
      from (
        select consumer.id, segment.last_offset
        from journal_segments segment join journal_consumers consumer
          on consumer.shard_id = segment.shard_id and consumer.event_id = segment.event_id
          and consumer.partner_id in (0, segment.partner_id)
        where segment.shard_id = shard and segment.last_offset > scanned and segment.last_offset <= scan_to
        union all
        select consumer.id, segment.last_offset
        from journal_segments segment join journal_consumers consumer
          on consumer.shard_id = segment.shard_id and consumer.event_id = segment.event_id
        where segment.shard_id = shard and segment.last_offset > scanned and segment.last_offset <= scan_to
          and segment.partner_id = 0
      ) matched
      group by matched.id
    ) news
    where journal_consumers.shard_id = shard and journal_consumers.id = news.id;
    update consumer_scans set last_offset = scan_to where shard_id = shard;
  end if;
  return exists (
    select from journal_consumers
    where shard_id = shard and kind = of_kind and is_behind and state = 'active' and next_at <= now()
      and (leased_until is null or leased_until <= now())
  );
end $$;
