-- Returns the serials of up to "most" registrations and entries of waiting lists that match all terms (see
-- queries_of_term) and are of these events, if they are given. With "older_than", in descending order; otherwise those
-- after "newer_than", in ascending order.
--
-- It searches one bucket after the other (see words_of_entry) and ends when it has enough. So a common word costs
-- little, and a rare one a look-up for each bucket.
--
-- An index would read every row of a common word, also if another word is rare. So the term that is rarest in a sample
-- is looked up first, and the others are compared with the few rows that it finds.
create or replace function find_entries(
  shard integer, terms text[], events integer[], older_than bigint, newer_than bigint, most integer
) returns bigint[]
language plpgsql stable
-- A plan for each bucket would take as long as the search.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  -- More rows than this are not compared one by one.
  few constant integer := 1000;
  -- After this many buckets in which the rarest term was common, another sample is taken.
  patience constant integer := 3;
  is_descending constant boolean := older_than is not null;
  queries text[];
  everything text;
  rarest text;
  -- In the bucket.
  everything_here tsquery;
  rarest_here tsquery;
  disappointments integer := patience;
  edge bigint := coalesce(older_than, newer_than);
  first_of_bucket bigint;
  last_of_bucket bigint;
  code text;
  read_rows integer;
  matches bigint[];
  found bigint[] := '{}';
begin
  if events = '{}' then
    return found;
  end if;
  queries := array(select unnest(queries_of_term(shard, term)) from unnest(terms) as term);
  if queries = '{}' and terms <> '{}' then
    return found;
  end if;
  queries := queries || case when events is not null then array(
    select '(' || string_agg(format('''~#%s''', event), ' | ') || ')' from unnest(events) as event
  ) end;
  everything := array_to_string(queries, ' & ');
  if everything = '' then
    return found;
  end if;
  loop
    -- The next serial that is there, because buckets can be empty.
    if is_descending then
      select serial into edge from search_entries
      where shard_id = shard and serial < edge order by serial desc limit 1;
    else
      select serial into edge from search_entries
      where shard_id = shard and serial > edge order by serial limit 1;
    end if;
    exit when edge is null;
    first_of_bucket := case when is_descending then edge >> 16 << 16 else edge end;
    last_of_bucket := case when is_descending then edge else edge | 65535 end;
    code := to_hex(edge >> 16) || ':';
    everything_here := replace(everything, '~', code)::tsquery;

    if cardinality(queries) > 1 and disappointments = patience then
      rarest := rarest_query(shard, queries, code);
      disappointments := 0;
    end if;
    read_rows := null;
    if rarest is not null then
      rarest_here := replace(rarest, '~', code)::tsquery;
      select count(*), array_agg(serial) filter (where words @@ everything_here)
      into read_rows, matches
      from (
        select serial, words from search_entries
        where shard_id = shard and words @@ rarest_here
          -- Not by the primary key, which would read the whole bucket.
          and serial + 0 between first_of_bucket and last_of_bucket
        limit few
      ) entry;
      disappointments := disappointments + case when read_rows = few then 1 else 0 end;
    end if;
    if read_rows is null or read_rows = few then
      matches := array(
        select serial from search_entries
        where shard_id = shard and words @@ everything_here
          -- Not by the primary key, which would read the whole bucket.
          and serial + 0 between first_of_bucket and last_of_bucket
        order by case when is_descending then -serial else serial end
        limit most - cardinality(found)
      );
    end if;
    if cardinality(matches) > 0 then
      found := found || array(
        select serial from unnest(matches) as serial order by case when is_descending then -serial else serial end
        limit most - cardinality(found)
      );
    end if;
    exit when cardinality(found) >= most;
    edge := case when is_descending then first_of_bucket else last_of_bucket end;
  end loop;
  return found;
end $$;
