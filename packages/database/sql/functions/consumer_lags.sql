-- Returns the lag of the consumers of a shard, by kind: how many there are, are behind, fail and are disabled, and the age
-- of the oldest unread entry and of the oldest e-mail that is retried. Only consumers that are behind are looked at one
-- by one. For e-mails, queued deliveries count as unread (attempts 0), and those that are retried have an age of their own.
create or replace function consumer_lags(shard integer) returns json
language plpgsql as $$
declare
  of_kind record;
  one record;
  unread timestamptz;
  untried timestamptz;
  retried timestamptz;
  behind integer;
  oldest timestamptz;
  oldest_retry timestamptz;
  lags json[] := '{}';
begin
  -- Without a delivery process nobody else scans.
  perform find_news(shard);
  for of_kind in
    select kind, count(*) as consumers, count(*) filter (where state = 'disabled') as disabled,
      count(*) filter (where state <> 'disabled' and failures > 0) as failing
    from journal_consumers
    where shard_id = shard group by kind
  loop
    behind := 0;
    oldest := null;
    oldest_retry := null;
    for one in
      select event_id, partner_id, last_offset, is_behind from journal_consumers
      where shard_id = shard and kind = of_kind.kind and state <> 'disabled' and (is_behind or kind = 'mail')
    loop
      unread := null;
      untried := null;
      retried := null;
      if one.is_behind then
        unread := oldest_news(shard, one.event_id, one.partner_id, one.last_offset);
      end if;
      if of_kind.kind = 'mail' then
        select min(created_at) filter (where attempts = 0), min(created_at) filter (where attempts > 0) into untried, retried
        from deliveries
        where shard_id = shard and kind in ('confirmation', 'event-updated') and event_id = one.event_id
          and deliveries.state in ('queued', 'retry', 'sending');
      end if;
      if coalesce(unread, untried, retried) is not null then
        behind := behind + 1;
      end if;
      oldest := least(oldest, unread, untried);
      oldest_retry := least(oldest_retry, retried);
    end loop;
    lags := lags || json_build_object('kind', of_kind.kind, 'consumers', of_kind.consumers, 'behind', behind,
      'failing', of_kind.failing, 'disabled', of_kind.disabled,
      'oldestMs', extract(epoch from now() - oldest) * 1000,
      'oldestRetryMs', extract(epoch from now() - oldest_retry) * 1000);
  end loop;
  return array_to_json(lags);
end $$;
