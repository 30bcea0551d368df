-- Returns the query for a term of a search, with a "~" for the bucket: a word, or the digits of a phone number. The
-- parts of a word such as "jane@example" must all match, each by its beginning. Null: the term has no letter or digit.
create or replace function query_of_term(shard integer, term text) returns text
language plpgsql immutable parallel safe
as $$
declare
  words constant text := (
    select string_agg(format('''~%s'':*', left(word, 200)), ' & ')
    from string_to_table(replace(fold_text(shard, term), '''', ''), ' ') as word where word <> ''
  );
  phone text;
begin
  if term ~ '^[0-9 ()+./-]*$' then
    select string_agg(format('''~%s'':*', word), ' | ')
    into phone from string_to_table(fold_phone(shard, term, true), ' ') as word where word <> '';
  end if;
  if words is null then
    return null;
  end if;
  return '(' || concat_ws(' | ', '(' || words || ')', phone) || ')';
end $$;
