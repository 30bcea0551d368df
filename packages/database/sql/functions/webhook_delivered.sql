-- Records a delivered message and the next range in flight: one commit per message of a steady stream.
-- Returns whether the caller still has the lease and the consumer is active.
create or replace function webhook_delivered(
  shard integer, endpoint uuid, by_lease uuid, lease_for interval, message text, start bigint, finish bigint,
  entry_count integer, took integer, status integer, next_in_flight bigint
) returns boolean language plpgsql as $$
begin
  insert into webhook_attempts
    (shard_id, endpoint_id, at, id, message_id, after_offset, last_offset, entries, took_ms, outcome, http_status)
  values (shard, endpoint, now(), gen_random_uuid(), message, start, finish, entry_count, took, 'delivered', status);
  update journal_consumers
  set last_offset = finish, in_flight_until = next_in_flight, failures = 0, failing_since = null,
    leased_until = now() + lease_for
  where shard_id = shard and id = endpoint and lease = by_lease and state = 'active';
  if not found then
    return false;
  end if;
  update webhook_endpoints set chain_offset = finish, refused_message = null where shard_id = shard and id = endpoint;
  return true;
end $$;
