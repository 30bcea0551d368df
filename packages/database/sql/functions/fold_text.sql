-- Returns a text as the search compares it: in lower case, without accents, its words separated by spaces. The
-- index and the queries use the same function. An apostrophe stays: see words_of_entry.
--
-- Compatibility forms (full-width letters, ligatures) and composition do not count, because the text is decomposed
-- first (NFKD). Letters that do not decompose are listed. lower() of the locale is not used: it differs between
-- databases, and with the locale C it knows ASCII only.
--
-- A database in SQL_ASCII counts bytes, so there every text counts as ASCII and only its ASCII letters are folded:
-- normalize() does not work there.
create or replace function fold_text(shard integer, given text) returns text
language plpgsql immutable parallel safe
as $$
declare
  folded text := given;
begin
  if octet_length(given) > length(given) then
    -- Apostrophes first: NFKD makes a space and a mark of the acute accent.
    folded := normalize(translate(given, '´`‘’ʼʻ＇', ''''''''''''''''), NFKD);
    -- Combining marks of Latin, Greek, Cyrillic, Hebrew, Arabic and Japanese, and characters that are not displayed.
    folded := regexp_replace(folded,
      '[\u00ad\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u061c\u0640\u064b-\u065f'
      '\u0670\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20d0-\u20ff\u3099\u309a\ufe00-\ufe0f'
      '\ufe20-\ufe2f\ufeff]', '', 'g');
    folded := translate(folded,
      'ŁłØøÐðĐđĦħŦŧıŊŋƏəΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩςАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЄЅІЈЉЊЋЂЏҐҚҒҢҮҰҺӘӨ‐‒–—―·•・、。،',
      'llooddddhhttinneeαβγδεζηθικλμνξοπρστυφχψωσабвгдежзиклмнопрстуфхцчшщъыьэюяєѕіјљњћђџґқғңүұһәө           ');
    folded := replace(replace(replace(replace(replace(replace(replace(replace(folded,
      'ß', 'ss'), 'ẞ', 'ss'), 'æ', 'ae'), 'Æ', 'ae'), 'œ', 'oe'), 'Œ', 'oe'), 'þ', 'th'), 'Þ', 'th');
  end if;
  folded := lower(folded collate "C");
  folded := replace(replace(replace(replace(replace(folded, '.', ' '), '@', ' '), '-', ' '), '_', ' '), '+', ' ');
  -- Half of the time of the index, if it was done for every text.
  if folded ~ E'[!"#$%&()*,/:;<=>?[\\\\\\]^`{|}~\t\n\r]' then
    folded := translate(folded, E'!"#$%&()*,/:;<=>?[\\]^`{|}~\t\n\r', repeat(' ', 29));
  end if;
  return folded;
end $$;
