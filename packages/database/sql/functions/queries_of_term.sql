-- Returns the queries for a term of a search, which must all match, with a "~" for the bucket: one for each part of a
-- word such as "jane@example", by its beginning, or one for the digits of a phone number. None: the term has no letter
-- or digit.
create or replace function queries_of_term(shard integer, term text) returns text[]
language plpgsql immutable parallel safe
as $$
declare
  words constant text[] := array(
    select format('''~%s'':*', left(word, 200))
    from string_to_table(replace(fold_text(shard, term), '''', ''), ' ') as word where word <> ''
  );
  phone text;
begin
  if term !~ '^[0-9 ()+./-]*$' or words = '{}' then
    return words;
  end if;
  -- The digits can also be those of a reference.
  select string_agg(format('''~%s'':*', word), ' | ')
  into phone from string_to_table(fold_phone(shard, term, true), ' ') as word where word <> '';
  return array['(' || concat_ws(' | ', '(' || array_to_string(words, ' & ') || ')', phone) || ')'];
end $$;
