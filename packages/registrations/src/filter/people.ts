import { sql, type RawBuilder } from 'kysely';

// Texts that people type about an attendee, as conditions on a registration `r`. The filter decides on the
// rows of one event, so it needs no index.

/** Characters that separate words of a name: white space, hyphens, apostrophes and other punctuation. */
const SEPARATORS = String.raw`\s\-'’.,_/()"‐–—·&+`;
const BETWEEN_WORDS = new RegExp(`[${SEPARATORS}]+`, 'u');

/** Returns the words of a name. */
export const wordsOf = (name: string): string[] =>
  name.normalize('NFKC').split(BETWEEN_WORDS).filter(Boolean);

/**
 * Each word is the beginning of a word of the name, folded as the search folds it (fold_text): case, accents,
 * composition and width do not matter, in any locale of the database.
 */
export const hasWords = (name: string, shardId: number): RawBuilder<boolean> => {
  const folded = (text: RawBuilder<unknown>) => sql`fold_text(${shardId}::integer, ${text})`;
  // fold_text makes spaces of the characters that are special in a pattern.
  const begins = wordsOf(name).map(
    (word) => sql`
      ${folded(sql`r.full_name`)} ~ (${`(^|[${SEPARATORS}])`} || ltrim(${folded(sql`${word}::text`)}))`,
  );
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
