import { sql, type RawBuilder } from 'kysely';

// Texts that people type about an attendee, as conditions on a registration `r`. The filter decides on the
// rows of one event, so it needs no index.

/** Characters that separate words of a name: white space, hyphens, apostrophes and other punctuation. */
const SEPARATORS = String.raw`\s\-'’.,_/()"‐–—·&+`;
const BETWEEN_WORDS = new RegExp(`[${SEPARATORS}]+`, 'u');
const MARKS = /[\u0300-\u036f]/g;

/** Returns the words of a name without accents, in lower case, composed or not, wide or not. */
export const wordsOf = (name: string): string[] =>
  name.normalize('NFKD').replaceAll(MARKS, '').toLowerCase().split(BETWEEN_WORDS).filter(Boolean);

// A database of another encoding cannot normalize.
const FOLDED_NAME = sql`lower(case when getdatabaseencoding() = 'UTF8'
  then regexp_replace(normalize(r.full_name, NFKD), '[\u0300-\u036f]', '', 'g') else r.full_name end)`;

/** Each word is the beginning of a word of the name. */
export const hasWords = (name: string): RawBuilder<boolean> => {
  const begins = wordsOf(name).map((word) => {
    // In Postgres, a backslash before a character that is neither letter nor digit makes it literal.
    const literal = word.replaceAll(/[^\p{L}\p{N}]/gu, String.raw`\$&`);
    return sql`${FOLDED_NAME} ~ ${`(^|[${SEPARATORS}])${literal}`}`;
  });
  return sql`(${sql.join(begins, sql` and `)})`;
};

/** The address contains the text, whatever its case. */
export const hasInAddress = (text: string): RawBuilder<boolean> =>
  sql`position(lower(${text}) in lower(r.email_address)) > 0`;

/** The zeros of the scripts in which people type phone numbers: Arabic, Persian, Hindi, Bengali, Thai, wide. */
const ZEROS = [0x660, 0x6f0, 0x966, 0x9e6, 0xe50, 0xff10];
const TEN = Array.from({ length: 10 }, (_, digit) => digit);
const FOREIGN = ZEROS.flatMap((zero) => TEN.map((digit) => String.fromCodePoint(zero + digit))).join('');
const LATIN = TEN.join('').repeat(ZEROS.length);

/** Returns the digits of a phone number. */
export const digitsOf = (phone: string): string =>
  Array.from(phone, (character) => LATIN[FOREIGN.indexOf(character)] ?? character)
    .join('')
    .replaceAll(/\D/g, '');

/** Digits of a number without its country code, below which two numbers could be the same by chance. */
const FEWEST = 6;

/**
 * The digits are part of the phone number. Zeros at the start do not count, because they stand for a country
 * code or are left out after it. A number that was stored without a country code is found with one.
 */
export const hasDigits = (phone: string): RawBuilder<boolean> => {
  const digits = digitsOf(phone).replace(/^0+/, '');
  const stored = sql`regexp_replace(translate(r.phone_number, ${FOREIGN}, ${LATIN}), '[^0-9]', '', 'g')`;
  const national = sql`ltrim(${stored}, '0')`;
  return sql`(position(${digits} in ${stored}) > 0
    or length(${national}) >= ${FEWEST} and right(${digits}, length(${national})) = ${national})`;
};
