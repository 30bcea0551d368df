-- Returns the words by which a registration, or an entry of a waiting list, is found: those of the name, of the parts
-- of the address, of the phone number and of the partner's reference, and the event.
--
-- Each word begins with the number of the bucket, which are 65,536 serials. So find_entries can search one bucket
-- after the other, from the newest one, and new words go to a few pages of the index however large it is.
create or replace function words_of_entry(
  shard integer, entry bigint, event integer, name text, address text, phone text, reference text
) returns tsvector
language plpgsql immutable parallel safe
as $$
declare
  bucket constant text := to_hex(entry >> 16) || ':';
  words text := fold_text(shard, concat_ws(' ', name, address, reference));
begin
  -- "O'Brien" is found by "obrien" and "brien".
  if strpos(words, '''') > 0 then
    words := concat_ws(' ', replace(words, '''', ' '), replace(words, '''', ''));
  end if;
  words := concat_ws(' ', '#' || event, words, fold_phone(shard, phone, false));
  -- Postgres refuses words of more than 2,046 bytes.
  if octet_length(words) > 1000 then
    words := (select string_agg(left(word, 200), ' ') from string_to_table(words, ' ') as word);
  end if;
  return array_to_tsvector(string_to_array(bucket || replace(rtrim(words), ' ', ' ' || bucket), ' '));
end $$;
