-- Returns the first of these counters of which the device has stored another scan, or a neighbour with
-- another history. Null: none. "input" has the counter, hash and previous hash of each scan. The caller has
-- locked the device.
create or replace function find_fork(shard integer, device integer, input json) returns bigint
language plpgsql
set enable_seqscan = off
as $$
#variable_conflict use_column
begin
  return (
    select min(i.counter) from json_to_recordset(input) as i (counter bigint, hash bytea, previous bytea)
    cross join lateral (
      select counter, hash, previous_hash from scans
      where shard_id = shard and device_id = device and counter between i.counter - 1 and i.counter + 1 offset 0
    ) s
    where s.counter = i.counter and s.hash <> i.hash
      or s.counter = i.counter - 1 and s.hash <> i.previous
      or s.counter = i.counter + 1 and s.previous_hash <> i.hash
  );
end $$;
