-- Returns the query that finds the fewest rows of a bucket. See find_entries.
create or replace function rarest_query(shard integer, queries text[], bucket text) returns text
language plpgsql stable
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  query text;
  query_here tsquery;
  rarest text;
  rows_of_query integer;
  fewest integer;
begin
  foreach query in array queries loop
    query_here := replace(query, '~', bucket)::tsquery;
    select count(*) into rows_of_query from (
      select from search_entries
      where shard_id = shard and words @@ query_here limit coalesce(fewest, 5000)
    ) entry;
    if fewest is null or rows_of_query < fewest then
      rarest := query;
      fewest := rows_of_query;
    end if;
    exit when fewest = 0;
  end loop;
  return rarest;
end $$;
