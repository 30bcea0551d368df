-- Returns a phone number as the search compares it, as words of digits after a "+": all digits, and if the number has
-- a country code, those without it. Leading zeros are dropped, also the one in "+49 (0)170".
--
-- A query for a number with a country code has the digits without it, because a number can be stored without. Other
-- digits that are as many as those of a whole number can begin with a country code, too: then there are two words.
create or replace function fold_phone(shard integer, given text, is_query boolean) returns text
language plpgsql immutable parallel safe
as $$
declare
  is_whole constant boolean := given ~ '^[\s(]*(\+|00)';
  digits text := ltrim(translate(replace(given, '(0)', ''), '+ ()-/.', ''), '0');
  national text := '';
begin
  if digits ~ '[^0-9]' then
    digits := ltrim(regexp_replace(digits, '[^0-9]', '', 'g'), '0');
  end if;
  if is_whole or is_query and length(digits) >= 10 and given !~ '^[\s(]*0' then
    -- The country codes of one and two digits. All others have three.
    national := ltrim(substr(digits, case
      when digits ~ '^[17]' then 2
      when digits ~ '^(2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])' then 3
      else 4
    end), '0');
  end if;
  return case
    when digits = '' then ''
    when national = '' then '+' || digits
    when is_query and is_whole then '+' || national
    else '+' || digits || ' +' || national
  end;
end $$;
